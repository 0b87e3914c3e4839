//! The parts of items that several attributes read.

use syn::{Data, DeriveInput, Error, Fields, Result};

/// The fields of a structure that derives something.
pub fn of_struct(item: &DeriveInput) -> Result<&Fields> {
    match &item.data {
        Data::Struct(data) => Ok(&data.fields),
        _ => Err(Error::new_spanned(&item.ident, "expected a structure")),
    }
}
