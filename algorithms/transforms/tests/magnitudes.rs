//! Values of a size that no method takes are refused before a transform sees them, by one message.

use mustlink_core::prelude::*;
use mustlink_core::registry::{Catalogue, Role};
use mustlink_core::roles::{RoleObject, Transform};
use mustlink_core::run;
use mustlink_laws::fixtures;
use mustlink_transforms as _;

#[test]
fn one_refusal_for_all_transforms() {
    let (plain, classes) = fixtures::dense(1);
    let plain = plain.with_constraints(fixtures::true_constraints(&classes, 20, 1));
    let of_size = |power: i32| {
        let x = plain.data.to_dense().mapv(|v| v * 2f64.powi(power));
        Problem { data: Data::dense(x).unwrap(), ..plain.clone() }
    };
    let catalogue = Catalogue::get().unwrap();
    let mut tried = Vec::new();
    for descriptor in catalogue.all().iter().filter(|d| d.role == Role::Transform) {
        let transform =
            <dyn Transform as RoleObject>::from_value(descriptor.default_config()).unwrap();
        let facts = transform.properties();
        if !facts.accepts.contains(&DataKind::Dense) {
            continue;
        }
        for power in [-900, -530, 530, 900] {
            let made =
                run::transform(std::slice::from_ref(&transform), &of_size(power), &Context::new(1));
            let refused = made.map_err(|e| e.root().clone()).err();
            let magnitude = matches!(refused, Some(Error::Magnitude { .. }));
            let tag = descriptor.tag;
            // What takes any size makes one of them that methods take, or says why not by itself.
            assert_eq!(magnitude, !facts.any_magnitude, "{tag}, 2^{power}: {refused:?}");
        }
        tried.push(descriptor.tag);
    }
    for tag in ["mmc", "pca", "rca", "z_score"] {
        assert!(tried.contains(&tag), "{tried:?}");
    }
}
