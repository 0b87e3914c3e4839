//! The crate's front: [`Fabric`].

use crate::control::{Control, Plan};
use crate::cut::Cut;
use crate::motion::flit::FlitMover;
use crate::motion::worm::WormMover;
use crate::motion::{Motion, Wiring};
use crate::network::{Network, Simulation};
use crate::regions::Divided;
use crate::topology::{CompiledRouting, Custom, Routing, with_routing};
use crate::{Config, Engine};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A network of switches and links in motion: a control plane and a mover, made for a
/// configuration's topology and engine. Its methods are those of [`Network`].
pub struct Fabric {
    network: Box<dyn Network>,
}

impl Fabric {
    /// An empty fabric at cycle 0.
    pub fn new(config: Config) -> Self {
        config.assert_valid();
        Fabric {
            network: with_routing!(config, routing => start(routing, config)),
        }
    }

    /// An empty fabric at cycle 0 with the network of an external routing, in place of the
    /// configuration's topology.
    pub fn with_routing(routing: impl Routing + 'static, config: Config) -> Self {
        let topology = Custom::new(routing).into();
        Fabric::new(Config { topology, ..config })
    }
}

/// A configuration's network, compiled for its routing and its mover.
fn start<R: CompiledRouting + ?Sized + 'static>(
    routing: Arc<R>,
    config: Config,
) -> Box<dyn Network> {
    match config.engine {
        Engine::Flit => run(FlitMover::new(&config), routing, config),
        Engine::Worm if config.regions > 1 && config.undivided().is_none() => {
            let cut = Cut::new(routing.wiring(), config.regions).open(&config);
            let wiring = Wiring::new(&config);
            let mover = |cut: &Cut, region| WormMover::of_region(&config, &wiring, cut, region);
            let plan = Plan::new(config.clone(), routing);
            Box::new(Divided::<R, WormMover>::new(&plan, cut, mover))
        }
        Engine::Worm => run(WormMover::new(&config), routing, config),
    }
}

fn run<R: CompiledRouting + ?Sized + 'static>(
    mover: impl Motion + 'static,
    routing: Arc<R>,
    config: Config,
) -> Box<dyn Network> {
    Box::new(Simulation {
        control: Control::new(config, routing, &mover),
        mover,
    })
}

impl Deref for Fabric {
    type Target = dyn Network;

    fn deref(&self) -> &Self::Target {
        &*self.network
    }
}

impl DerefMut for Fabric {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.network
    }
}
