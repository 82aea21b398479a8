//! Tests of the weights that members have of their own.

use mustlink_consensus_functions::evidence_accumulation::{CutAt, EvidenceAccumulation, Linkage};
use mustlink_consensus_functions::voting::{Reference, Voting};
use mustlink_consensus_functions::{Scheme, Weights};
use mustlink_core::prelude::*;
use mustlink_core::registry::{Catalogue, Role, build_default};
use mustlink_core::roles::RoleObject;
use mustlink_laws::fixtures;
use ndarray::Array2;

/// A noisy copy of `classes` with all that consensus functions ask of a member.
fn member(classes: &[u32], problem: &Problem, stream: &mut Stream) -> Member {
    let noisy =
        classes.iter().map(|&c| if stream.unit() < 0.2 { stream.below(3) as u32 } else { c });
    let member = Member::from_labels(&noisy.collect::<Vec<u32>>());
    let (n, d, k) = (problem.n(), problem.d(), member.k);
    let mut memberships = Array2::from_shape_fn((n, k), |(i, l)| {
        stream.unit() + 3.0 * f64::from(u8::from(member.labels[i] as usize == l))
    });
    for mut row in memberships.rows_mut() {
        let total = row.sum();
        row.mapv_inplace(|v| v / total);
    }
    let extras = Extras {
        distances: Some(memberships.mapv(|u| 2.0 - u)),
        weights: Some(Array2::from_shape_fn((k, d), |_| (0.1 + stream.unit()) / d as f64)),
        memberships: Some(memberships),
        ..Extras::default()
    };
    Member { extras, ..member }
}

/// Members of 45 objects in three classes, each with a weight of its own.
fn weighted(seed: u64, weights: &[f64]) -> (Ensemble, Problem) {
    let (problem, classes) = fixtures::dense(seed);
    let mut stream = SeedPath::new(seed).stream("weights");
    let members = weights
        .iter()
        .map(|&weight| Member { weight, ..member(&classes, &problem, &mut stream) })
        .collect();
    (Ensemble::new(problem.n(), members).unwrap(), problem)
}

#[test]
fn a_member_of_weight_zero_is_as_if_it_were_not_there() {
    let (whole, problem) = weighted(1, &[1.0, 3.0, 1.0, 0.5, 1.0]);
    // Silent members that lack everything, one of them in front.
    let silent = |labels: &[u32]| Member { weight: 0.0, ..Member::from_labels(labels) };
    let mut members = whole.members().to_vec();
    members.insert(3, silent(&(0..45).collect::<Vec<u32>>()));
    members.insert(0, silent(&[vec![NONE; 5], vec![0; 40]].concat()));
    let with = Ensemble::new(45, members).unwrap();
    let catalogue = Catalogue::get().unwrap();
    let mut functions: Vec<Box<dyn ConsensusFunction>> = catalogue
        .role(Role::ConsensusFunction)
        .map(|d| build_default::<dyn ConsensusFunction>(d.tag).unwrap())
        .collect();
    assert!(functions.len() >= 13, "only {} functions are linked", functions.len());
    let weights = Weights::Scheme(Scheme::Anmi);
    functions.push(Box::new(EvidenceAccumulation { weights, ..Default::default() }));
    functions.push(Box::new(Voting { reference: Reference::First, ..Voting::default() }));
    for f in functions {
        let of = |e: &Ensemble| {
            mustlink_core::needs::check_needs(e, &*f).unwrap();
            f.combine(e, &problem, &Context::new(3)).unwrap()
        };
        assert_eq!(of(&with), of(&whole), "{}", f.tag());
    }
}

#[test]
fn a_member_of_weight_two_is_two_of_them() {
    for seed in 0..20 {
        let (whole, problem) = weighted(seed, &[2.0, 1.0, 3.0, 1.0, 1.0]);
        let copies = whole.members().iter().flat_map(|m| {
            let copy = Member { weight: 1.0, ..m.clone() };
            std::iter::repeat_n(copy, m.weight as usize)
        });
        let copies = Ensemble::new(45, copies.collect()).unwrap();
        let linkages = [Linkage::Single, Linkage::Average, Linkage::Complete];
        let accumulated = linkages.into_iter().flat_map(|linkage| {
            [CutAt::K, CutAt::Threshold, CutAt::Lifetime].map(|cut| {
                Box::new(EvidenceAccumulation { linkage, cut, ..Default::default() }) as Box<_>
            })
        });
        let voted = [Reference::First, Reference::Medoid]
            .map(|reference| Box::new(Voting { reference, ..Voting::default() }) as Box<_>);
        let functions: Vec<Box<dyn ConsensusFunction>> = accumulated.chain(voted).collect();
        for f in functions {
            let of = |e: &Ensemble| f.combine(e, &problem, &Context::new(3)).unwrap();
            assert_eq!(of(&whole), of(&copies), "{f:?}");
        }
    }
}

#[test]
fn weights_of_members_matter_and_multiply_those_given() {
    let (whole, problem) = weighted(2, &[1.0, 40.0, 1.0, 1.0, 1.0]);
    let vote = |weights| {
        let voting = Voting { weights, ..Voting::default() };
        voting.combine(&whole, &problem, &Context::new(1)).unwrap().labels
    };
    assert_eq!(vote(Weights::default()), whole.members()[1].labels);
    let against = Weights::Given(vec![40.0, 1.0, 40.0, 40.0, 40.0]);
    let alike = whole.members().iter().map(|m| Member { weight: 1.0, ..m.clone() });
    let alike = Ensemble::new(45, alike.collect()).unwrap();
    let plain = EvidenceAccumulation::default();
    let levelled = EvidenceAccumulation { weights: against, ..plain.clone() };
    let of = |f: &EvidenceAccumulation, e| f.combine(e, &problem, &Context::new(1)).unwrap();
    assert_eq!(of(&levelled, &whole), of(&plain, &alike));
    assert_ne!(of(&plain, &whole), of(&plain, &alike));
    // A function that cannot weigh says so.
    let ctx = Context::new(1);
    let mcla = build_default::<dyn ConsensusFunction>("mcla").unwrap();
    mcla.combine(&alike, &problem, &ctx).unwrap();
    assert_eq!(ctx.warnings(), [""; 0]);
    mcla.combine(&whole, &problem, &ctx).unwrap();
    assert_eq!(ctx.warnings(), ["mcla counts all members the same, whatever they weigh"]);
}

#[test]
fn respected_must_links_hold_at_any_k() {
    let mut tried = 0;
    for d in Catalogue::get().unwrap().all() {
        let mut config = d.default_config();
        if d.role != Role::ConsensusFunction || config.get("respect_must_link").is_none() {
            continue;
        }
        config["respect_must_link"] = true.into();
        let function = <dyn ConsensusFunction as RoleObject>::from_value(config).unwrap();
        for n in [4, 5, 6, 10] {
            let linked = [Constraint::must(0, n - 1), Constraint::must(1, 2)];
            let mut stream = SeedPath::new(n as u64).stream("members");
            let x = Array2::from_shape_fn((n, 3), |_| stream.unit());
            let problem = Problem::new(Data::dense(x).unwrap())
                .with_constraints(Constraints::new(n, linked).unwrap());
            let classes: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
            let members = (0..5).map(|_| member(&classes, &problem, &mut stream)).collect();
            let ensemble = Ensemble::new(n, members).unwrap();
            for k in [2, n] {
                let asked = problem.clone().with_k(k);
                let c = function.combine(&ensemble, &asked, &Context::new(1)).unwrap();
                let broken = asked.constraints.violations(&c.labels).must;
                assert_eq!(broken, 0, "{} at n = {n}, k = {k}: {:?}", d.tag, c.labels);
                tried += 1;
            }
        }
    }
    assert!(tried >= 40, "only {tried} were tried");
}

/// Constraints marked hard hold, or provably do not fit, whatever the options are.
#[test]
fn promises_hold_whatever_the_options() {
    let config = |text: &str| {
        let config = serde_json::from_str(text).unwrap();
        <dyn ConsensusFunction as RoleObject>::from_value(config).unwrap()
    };
    let mut functions = Vec::new();
    for linkage in ["single", "average", "complete"] {
        for rest in [
            r#""part": "while_merging""#,
            r#""part": "afterwards""#,
            r#""cut": "threshold""#,
            r#""cut": "lifetime""#,
            r#""constrain": "weigh""#,
            r#""association": "memberships""#,
        ] {
            let tag = r#""type": "evidence_accumulation""#;
            functions.push(config(&format!(r#"{{ {tag}, "linkage": "{linkage}", {rest} }}"#)));
        }
    }
    for tag in ["hbgf", "wbpa", "cspa", "wspa", "wsbpa"] {
        for partitioner in ["multilevel", "spectral", "greedy_ncut"] {
            let options = format!(r#""type": "{tag}", "partitioner": "{partitioner}""#);
            functions.push(config(&format!("{{ {options} }}")));
        }
    }
    functions.push(config(r#"{ "type": "hbgf" }"#));
    for seed in 0..8 {
        let (ensemble, problem) = weighted(seed, &[1.0; 4]);
        // Classes that the members know nothing about.
        let classes: Vec<u32> = (0..45).map(|i| i * i % 7 % 3).collect();
        let given = fixtures::true_constraints(&classes, 10 + 10 * seed as usize, seed);
        let hard =
            given.pairs().iter().map(|c| Constraint { strength: Some(Strength::Hard), ..*c });
        let hard = Constraints::new(45, hard).unwrap();
        for f in &functions {
            for k in [3, 5, 45] {
                let asked = problem.clone().with_constraints(hard.clone()).with_k(k);
                let run = mustlink_core::run::combine(&**f, &ensemble, &asked, &Context::new(seed));
                let run = run.unwrap_or_else(|e| panic!("{f:?}, seed {seed}, k = {k}: {e}"));
                assert_eq!(run.violations.total(), 0, "{f:?}, seed {seed}, k = {k}");
                assert!(run.clustering.k <= k || !f.needs().fixed_k, "{f:?}");
            }
        }
    }
    // What promises nothing is not asked to.
    let (ensemble, problem) = weighted(1, &[1.0; 4]);
    let link = Constraint { strength: Some(Strength::Hard), ..Constraint::must(0, 1) };
    let hard = problem.with_constraints(Constraints::new(45, [link]).unwrap());
    let ignoring = r#"{ "type": "evidence_accumulation", "constrain": "ignore" }"#;
    for text in [r#"{ "type": "voting" }"#, r#"{ "type": "mcla" }"#, ignoring] {
        let f = config(text);
        let refused = mustlink_core::run::combine(&*f, &ensemble, &hard, &Context::new(1));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("mustlink list consensus-functions"), "{refused}");
    }
}
