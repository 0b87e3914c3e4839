//! Policy names in files and points: those that are shipped, and those that a program registers.

use crate::policies::SHIPPED;
use crate::policy::Policy;
use kernel::registry::Registry;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{EnumAccess, Error, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

static REGISTERED: Registry<Policy> = Registry::new();

/// Registers a policy, to be called before the first machine file is read. A later policy takes the
/// place of an earlier one with the same name.
///
/// # Panics
/// If a shipped policy has the name.
pub fn register(policy: Policy) {
    let name = policy.kind.name;
    let is_shipped = SHIPPED.iter().any(|shipped| shipped.kind.name == name);
    assert!(!is_shipped, "`{name}` is a policy of Elanite");
    REGISTERED.add(name, policy);
}

impl Policy {
    /// The shipped or registered policy with a name.
    ///
    /// # Errors
    /// All names, if this is not among them.
    pub fn named(name: &str) -> Result<Self, Vec<&'static str>> {
        let shipped = SHIPPED.iter().find(|policy| policy.kind.name == name);
        if let Some(policy) = shipped {
            return Ok(*policy);
        }
        REGISTERED.get(name).map_err(|registered| {
            let shipped = SHIPPED.iter().map(|policy| policy.kind.name);
            shipped.chain(registered).collect()
        })
    }
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.kind.name)
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("Policy", &[], PolicyName)
    }
}

/// Reads the name. The errors have an enumeration's words, since the name comes from a list.
struct PolicyName;

impl<'de> Visitor<'de> for PolicyName {
    type Value = Policy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enum Policy")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Policy, A::Error> {
        let (name, rest) = data.variant::<String>()?;
        rest.unit_variant()?;
        Policy::named(&name).map_err(|names| {
            let names = names.join("`, `");
            A::Error::custom(format!(
                "unknown variant `{name}`, expected one of `{names}`"
            ))
        })
    }
}

impl JsonSchema for Policy {
    fn schema_name() -> Cow<'static, str> {
        "Policy".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let each = SHIPPED.iter().map(|policy| {
            let (name, about) = (policy.kind.name, policy.kind.about);
            Value::from(json_schema!({"type": "string", "const": name, "description": about}))
        });
        json_schema!({
            "oneOf": each.collect::<Vec<_>>(),
            "description": "How the rails of a message are picked.",
        })
    }
}
