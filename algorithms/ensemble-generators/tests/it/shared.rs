//! Methods of one run share an ensemble: what one of them hears, all hear.

use mustlink_core::context::EnsembleStore;
use mustlink_core::ensemble::{Ensemble, Member};
use mustlink_core::prelude::*;
use ndarray::array;

/// Warns of something.
#[options]
pub struct TestWarns {}

#[plugin("test_warns")]
impl EnsembleGenerator for TestWarns {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        ctx.child("member").warn("two objects are equal");
        Ensemble::new(problem.n(), vec![Member::from_labels(&vec![0; problem.n()])])
    }
}

#[test]
fn whoever_takes_an_ensemble_hears_what_its_maker_heard() {
    let problem = Problem::new(Data::dense(array![[1.0], [1.0]]).unwrap());
    let store = EnsembleStore::default();
    for place in ["clusterer", "selector"] {
        let root = SeedPath::new(1);
        let ctx = Context::builder(root.clone()).ensembles(store.clone(), root).build();
        ctx.child(place).ensemble_labels(&TestWarns::default(), &problem).unwrap();
        assert_eq!(ctx.warnings(), [format!("{place}.ensemble.member: two objects are equal")]);
        let tried = ctx.child("candidate").for_trial();
        tried.ensemble_labels(&TestWarns::default(), &problem).unwrap();
        assert_eq!(ctx.warnings().len(), 1);
    }
}
