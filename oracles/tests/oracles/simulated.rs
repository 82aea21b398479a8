//! Oracles that err, doubt, charge, and vote.

use mustlink_core::closure::UnionFind;
use mustlink_core::prelude::*;
use mustlink_oracles::budget::Budget;
use mustlink_oracles::cost::{Cost, PerObject};
use mustlink_oracles::crowd::{Annotator, Assign, Crowd, Rule, Tie};
use mustlink_oracles::dont_know::DontKnow;
use mustlink_oracles::noisy::Noisy;
use mustlink_oracles::noisy_labels::NoisyLabels;
use mustlink_oracles::noisy_margin::NoisyMargin;
use mustlink_oracles::scripted::{Missing, Scribed, Scripted};
use mustlink_oracles::truth::Truth;
use mustlink_oracles::truth_multi::TruthMulti;
use ndarray::Array2;
use proptest::prelude::*;

fn scene(n: usize, classes: u32, seed: u64) -> Scene {
    let labels = (0..n as u32).map(|i| Some(i % classes)).collect();
    let x = Array2::from_shape_fn((n, 2), |(i, f)| ((i * 7 + f * 3) % 11) as f64);
    let data = Data::dense(x).ok();
    Scene { data, ..Scene::with_labels(labels, Context::new(seed)) }
}

fn question(i: u32, j: u32) -> Question {
    Question { id: 0, i, j, subject: j, reference: i, purpose: "test" }
}

fn answers(oracle: &dyn Oracle, scene: &Scene) -> Vec<Answer> {
    let mut respondent = oracle.open(scene).unwrap();
    let n = scene.n as u32;
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let answer = |(i, j)| match respondent.ask(&question(i, j)).unwrap() {
        Outcome::Answered(answer) => answer,
        other => panic!("{other:?}"),
    };
    pairs.map(answer).collect()
}

fn replies(oracle: &dyn Oracle, scene: &Scene) -> Vec<Reply> {
    answers(oracle, scene).into_iter().map(|a| a.reply).collect()
}

fn share(a: &[Reply], b: &[Reply]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a != b).count() as f64 / a.len() as f64
}

fn boxed(oracle: impl Oracle + 'static) -> Option<Box<dyn Oracle>> {
    Some(Box::new(oracle))
}

fn message(oracle: &dyn Oracle, scene: &Scene) -> String {
    oracle.open(scene).err().expect("an error").to_string()
}

#[test]
fn noise_turns_as_many_replies_as_it_says() {
    let scene = scene(142, 3, 9);
    let truth = replies(&Truth {}, &scene);
    assert!(truth.len() > 10_000);
    for rate in [0.05, 0.3, 0.5] {
        let sd = (rate * (1.0 - rate) / truth.len() as f64).sqrt();
        let turned =
            share(&truth, &replies(&Noisy { flip_rate: rate, ..Noisy::default() }, &scene));
        assert!((turned - rate).abs() < 4.0 * sd, "{turned} at {rate}");
    }
    let all = replies(&Noisy { flip_rate: 1.0, ..Noisy::default() }, &scene);
    assert_eq!(share(&truth, &all), 1.0);
    let must = Noisy { flip_rate: 0.0, flip_must: Some(1.0), ..Noisy::default() };
    assert!(replies(&must, &scene).iter().all(|r| *r == Reply::CannotLink));
    let cannot = Noisy { flip_rate: 1.0, flip_must: Some(0.0), ..Noisy::default() };
    assert!(replies(&cannot, &scene).iter().all(|r| *r == Reply::MustLink));
}

#[test]
fn noise_leaves_doubt_alone() {
    let mut scene = scene(20, 2, 1);
    scene.labels = Some(vec![None; 20].into());
    let noisy = Noisy { flip_rate: 1.0, ..Noisy::default() };
    assert!(replies(&noisy, &scene).iter().all(|r| *r == Reply::DontKnow));
}

proptest! {
    #[test]
    fn at_rate_zero_nothing_changes(n in 2usize..30, classes in 1u32..5, seed: u64) {
        let scene = scene(n, classes, seed);
        let truth = answers(&Truth {}, &scene);
        let crowd = Crowd {
            annotators: vec![Annotator::default(); 5],
            votes: 5,
            ..Crowd::default()
        };
        prop_assert_eq!(&answers(&Noisy { flip_rate: 0.0, ..Noisy::default() }, &scene), &truth);
        prop_assert_eq!(&answers(&NoisyMargin { rate: 0.0, source: None }, &scene), &truth);
        prop_assert_eq!(&answers(&NoisyLabels { rate: 0.0 }, &scene), &truth);
        prop_assert_eq!(&answers(&DontKnow::default(), &scene), &truth);
        prop_assert_eq!(&answers(&Cost::default(), &scene), &truth);
        prop_assert_eq!(&answers(&TruthMulti::default(), &scene), &truth);
        let plain: Vec<Reply> = truth.iter().map(|a| a.reply).collect();
        for rule in [Rule::Majority, Rule::Weighted] {
            prop_assert_eq!(&replies(&Crowd { rule, ..crowd.clone() }, &scene), &plain);
        }
    }

    #[test]
    fn wrong_classes_still_agree(n in 3usize..25, classes in 1u32..5, seed: u64, rate in 0.0..=1.0) {
        let scene = scene(n, classes, seed);
        let replies = replies(&NoisyLabels { rate }, &scene);
        let pairs: Vec<(u32, u32)> =
            (0..n as u32).flat_map(|i| (i + 1..n as u32).map(move |j| (i, j))).collect();
        let mut together = UnionFind::new(n);
        for (&(i, j), _) in pairs.iter().zip(&replies).filter(|(_, r)| **r == Reply::MustLink) {
            together.union(i, j);
        }
        for (&(i, j), reply) in pairs.iter().zip(&replies) {
            prop_assert_eq!(together.find(i) == together.find(j), *reply == Reply::MustLink);
        }
    }
}

#[test]
fn wrong_classes_are_as_many_as_said() {
    // One object of class 1 among many of class 0: it is told apart unless one of the two is wrong.
    let n = 2001;
    let mut scene = scene(n, 1, 3);
    let labels: Vec<Option<u32>> = (0..n).map(|i| Some(u32::from(i == 0))).collect();
    scene.labels = Some(labels.into());
    let mut respondent = NoisyLabels { rate: 0.2 }.open(&scene).unwrap();
    let joined = (1..n as u32).filter(|&j| {
        let outcome = respondent.ask(&question(0, j)).unwrap();
        matches!(outcome, Outcome::Answered(a) if a.reply == Reply::MustLink)
    });
    let share = joined.count() as f64 / (n - 1) as f64;
    assert!((share - 0.2).abs() < 0.036 || (share - 0.8).abs() < 0.036, "{share}");
    // With two classes everybody changes places at rate 1, and nothing is to be seen.
    let two =
        Scene { labels: Some((0..20).map(|i| Some(i % 2)).collect()), ..self::scene(20, 2, 1) };
    assert_eq!(replies(&NoisyLabels { rate: 1.0 }, &two), replies(&Truth {}, &two));
}

#[test]
fn middling_distances_are_the_hard_ones() {
    // Distances 1, 5 and 100 in equal parts: the median is 5, the deviations are 0, 4 and 95.
    let n = 300;
    let distance = |i: usize, j: usize| match (i + j) % 3 {
        _ if i == j => 0.0,
        0 => 1.0,
        1 => 5.0,
        _ => 100.0,
    };
    let x = Array2::from_shape_fn((n, n), |(i, j)| distance(i, j));
    let mut scene = scene(n, 2, 5);
    scene.data = Some(Data::distances(x).unwrap());
    let truth = replies(&Truth {}, &scene);
    let noisy = replies(&NoisyMargin { rate: 0.5, source: None }, &scene);
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let mut turned = [(0.0, 0.0); 3];
    for ((i, j), (a, b)) in pairs.zip(truth.iter().zip(&noisy)) {
        let cell = &mut turned[(i + j) % 3];
        cell.0 += f64::from(u8::from(a != b));
        cell.1 += 1.0;
    }
    let [near, middle, far] = turned.map(|(turned, all)| turned / all);
    assert!((near - 0.5 * (-0.5f64).exp()).abs() < 0.02, "{near}");
    assert!((middle - 0.5).abs() < 0.02, "{middle}");
    assert_eq!(far, 0.0);
    let bare = Scene { data: None, ..scene.clone() };
    let said = message(&NoisyMargin { rate: 0.1, source: None }, &bare);
    assert_eq!(said, "the oracle noisy_margin needs the data, but none were given");
    // Where all distances are one, every pair is as hard as can be.
    let flat = Data::distances(Array2::from_shape_fn((n, n), |(i, j)| f64::from(u8::from(i != j))));
    let flat = Scene { data: flat.ok(), ..scene };
    let share = share(&truth, &replies(&NoisyMargin { rate: 0.5, source: None }, &flat));
    assert!((share - 0.5).abs() < 0.02, "{share}");
}

fn annotator(flip_rate: f64, dont_know_rate: f64) -> Annotator {
    Annotator { flip_rate, dont_know_rate, ..Annotator::default() }
}

#[test]
fn a_majority_errs_less_than_its_members() {
    let scene = scene(142, 3, 2);
    let truth = replies(&Truth {}, &scene);
    let crowd = Crowd { annotators: vec![annotator(0.2, 0.0); 3], ..Crowd::default() };
    let wrong = share(&truth, &replies(&crowd, &scene));
    // 3 · 0.2² · 0.8 + 0.2³.
    assert!((wrong - 0.104).abs() < 0.013, "{wrong}");
    // Three good ones among bad ones: weights find them.
    let rates = [0.05, 0.05, 0.05, 0.45, 0.45, 0.45, 0.45];
    let mixed = Crowd {
        annotators: rates.map(|r| annotator(r, 0.0)).to_vec(),
        assign: Assign::All,
        ..Crowd::default()
    };
    let wrong = |crowd: &Crowd| share(&truth, &replies(crowd, &scene));
    let plain = wrong(&mixed);
    let known = wrong(&Crowd { rule: Rule::Weighted, ..mixed.clone() });
    let guessed = wrong(&Crowd { rule: Rule::Weighted, estimate: true, ..mixed.clone() });
    assert!(known < 0.5 * plain && guessed < 0.6 * plain, "{plain} {known} {guessed}");
}

#[test]
fn votes_are_counted_paid_and_kept() {
    let scene = scene(12, 2, 1);
    // Two who contradict each other always, and a third who knows.
    let annotators = vec![annotator(0.0, 0.0), annotator(1.0, 0.0), annotator(0.0, 0.0)];
    let pair = Crowd { annotators, votes: 2, ..Crowd::default() };
    let truth = replies(&Truth {}, &scene);
    for (tie, most) in [(Tie::DontKnow, 2), (Tie::CannotLink, 2), (Tie::AskAnother, 3)] {
        let crowd = Crowd { tie, ..pair.clone() };
        for (answer, truth) in answers(&crowd, &scene).iter().zip(&truth) {
            assert_eq!(answer.cost, answer.votes.len() as f64);
            assert!(answer.votes.len() <= most);
            let split = answer.votes[0].reply != answer.votes[1].reply;
            let expected = match tie {
                Tie::DontKnow if split => Reply::DontKnow,
                Tie::CannotLink if split => Reply::CannotLink,
                _ => *truth,
            };
            assert_eq!(answer.reply, expected, "{tie:?}: {answer:?}");
            assert_eq!(answer.votes.len() == 3, split && tie == Tie::AskAnother);
        }
    }
    // A question is one query, whatever the votes.
    let budget = Budget { queries: Some(4), source: boxed(pair.clone()), ..Budget::default() };
    let mut respondent = budget.open(&scene).unwrap();
    let asked = (1..12)
        .filter(|&j| matches!(respondent.ask(&question(0, j)).unwrap(), Outcome::Answered(_)));
    assert_eq!(asked.count(), 4);
    // Nobody knows: a tie of none.
    let mute = Crowd { annotators: vec![annotator(0.0, 1.0); 3], ..Crowd::default() };
    assert!(replies(&mute, &scene).iter().all(|r| *r == Reply::DontKnow));
    // A vote without weight is none.
    let mut ignored = pair;
    ignored.annotators[1].weight = 0.0;
    assert_eq!(replies(&ignored, &scene), truth);
    // Below the threshold nothing is decided.
    let hesitant = Crowd { rule: Rule::Weighted, threshold: 100.0, ..Crowd::default() };
    assert!(replies(&hesitant, &scene).iter().all(|r| *r == Reply::DontKnow));
}

#[test]
fn crowds_that_cannot_be_are_refused() {
    let scene = scene(6, 2, 1);
    let said = |crowd: Crowd| message(&crowd, &scene);
    let none = Crowd { annotators: vec![], ..Crowd::default() };
    assert_eq!(said(none), "annotators: must be at least one annotator, got none");
    let pair = Crowd {
        annotators: vec![Annotator::default(); 2],
        assign: Assign::All,
        ..Crowd::default()
    };
    assert!(answers(&pair, &scene).iter().all(|answer| answer.votes.len() == 2));
    let many = Crowd { votes: 4, ..Crowd::default() };
    assert_eq!(said(many), "votes: must be between 1 and 3 (the number of annotators), got 4");
    let named = Annotator { id: Some("ann-1".into()), ..Annotator::default() };
    let twins =
        Crowd { annotators: vec![Annotator::default(), named], votes: 1, ..Crowd::default() };
    assert_eq!(said(twins), "annotators[1].id: must be a name of its own, got ann-1");
    let wild = Crowd { annotators: vec![annotator(1.5, 0.0)], votes: 1, ..Crowd::default() };
    assert_eq!(said(wild), "annotators[0].flip_rate: must be between 0 and 1, got 1.5");
    let inside = Noisy { source: boxed(Crowd::default()), ..Noisy::default() };
    assert_eq!(
        message(&inside, &scene),
        "source: must be an oracle that is further inside than noisy in budget → cost → crowd → \
         dont_know → noise → source, got crowd"
    );
}

#[test]
fn prices_are_charged() {
    let scene = scene(4, 2, 1);
    let costs =
        |cost: &Cost| -> Vec<f64> { answers(cost, &scene).iter().map(|a| a.cost).collect() };
    // The pairs 01 02 03 12 13 23.
    assert_eq!(costs(&Cost { constant: 2.5, ..Cost::default() }), [2.5; 6]);
    let by = |new, old| Cost { per_object: Some(PerObject { new, old }), ..Cost::default() };
    assert_eq!(costs(&by(1.0, 0.0)), [2.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(costs(&by(3.0, 0.5)), [6.0, 3.5, 3.5, 1.0, 1.0, 1.0]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prices.csv");
    std::fs::write(&file, "i,j,cost\n1,0,7\n2,3,0\n").unwrap();
    let table = Cost { table: Some(file.display().to_string()), ..Cost::default() };
    assert_eq!(costs(&table), [7.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
    // A crowd costs its votes, at this price each.
    let crowd = Cost { constant: 2.0, source: boxed(Crowd::default()), ..Cost::default() };
    assert_eq!(costs(&crowd), [6.0; 6]);
    std::fs::write(&file, "i,j,cost\n0,1,-1\n").unwrap();
    assert!(
        message(&table, &scene).ends_with("line 2: cost must be a finite number >= 0, got \"-1\"")
    );
    std::fs::write(&file, "i,j,cost\n0,9,1\n").unwrap();
    assert!(message(&table, &scene).contains("\"9\" is not a row number from 0 to 3"));
    let both = Cost { per_object: Some(PerObject::default()), ..table };
    assert!(message(&both, &scene).starts_with("table: must be absent together with per_object"));
    let negative = Cost { constant: -1.0, ..Cost::default() };
    assert_eq!(message(&negative, &scene), "constant: must be at least 0, got -1");
}

#[test]
fn scripts_are_followed() {
    use Reply::{CannotLink, DontKnow, MustLink};
    let mut scene = scene(4, 2, 1);
    let line = |i, j, reply| Scribed { i, j, reply };
    let replies_in = vec![line(1, 0, MustLink), line(2, 3, CannotLink)];
    let mut script = Scripted { replies: replies_in, ..Scripted::default() };
    let all = [MustLink, DontKnow, DontKnow, DontKnow, DontKnow, CannotLink];
    assert_eq!(replies(&script, &scene), all);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("replies.csv");
    std::fs::write(&file, "i,j,type,weight\n1,3,must_link,1\n0,1,must_link,1\n").unwrap();
    script.file = Some(file.display().to_string());
    let all = [MustLink, DontKnow, DontKnow, DontKnow, MustLink, CannotLink];
    assert_eq!(replies(&script, &scene), all);
    // As "select" writes constraints: a neighbourhood of one object, a group; with the separator of a spreadsheet.
    let rows = "i;j;type;weight\n1;3;must_link;1\n0;1;must_link;1\n2;2;must_link;1\n0;g;cannot_link_group;1\n\
                2;g;cannot_link_group;1\n";
    std::fs::write(&file, rows).unwrap();
    let apart = [MustLink, CannotLink, DontKnow, DontKnow, MustLink, CannotLink];
    assert_eq!(replies(&script, &scene), apart);
    // Above and below what a spreadsheet writes, and lines as an editor counts them.
    let rows = "\u{feff}sep=;\r\ni;j;reply\r\n1;3;must_link\r\n;;\r\n";
    for rows in [rows, "\n\ni;j;reply\n1;3;must_link\n"] {
        std::fs::write(&file, rows).unwrap();
        assert_eq!(replies(&script, &scene), all);
    }
    for rows in ["i,j,reply\r\n1,3,must_link\r\n\r\n2,3,no\r\n", "sep=,\n\ni,j,reply\n1,3\n"] {
        std::fs::write(&file, rows).unwrap();
        assert!(message(&script, &scene).contains(", line 4: "), "{}", message(&script, &scene));
    }
    std::fs::write(&file, "i,j,type,weight\n1,3,must_link,1\n0,1,must_link,1\n").unwrap();
    let strict = Scripted { missing: Missing::Refuse, ..script.clone() };
    let outcome = strict.open(&scene).unwrap().ask(&question(0, 2)).unwrap();
    assert_eq!(outcome, Outcome::Refused(Refusal::OutOfScope));
    std::fs::write(&file, "i,j,reply\n1,2,must_link\n3,4,must_link\n").unwrap();
    let counted = "line 3: \"4\" is not a row number from 0 to 3; if they are counted from 1, subtract 1 from each; \
                   or are these ids? (by_id = true)";
    assert!(message(&script, &scene).ends_with(counted), "{}", message(&script, &scene));
    std::fs::write(&file, "i,j,reply\na,d,must_link\n").unwrap();
    script.by_id = true;
    assert_eq!(message(&script, &scene), "by_id: must be false if the data have no ids, got true");
    scene.ids = Some(["a", "b", "c", "d"].map(String::from).to_vec().into());
    assert_eq!(replies(&script, &scene)[2], MustLink);
    std::fs::write(&file, "i,j,reply\na,b,cannot_link\n").unwrap();
    assert!(message(&script, &scene).ends_with("line 2: the pair has another reply before"));
    std::fs::write(&file, "i,j,reply\na,b,mustlink\n").unwrap();
    assert!(message(&script, &scene).ends_with("got \"mustlink\"; did you mean \"must_link\"?"));
    std::fs::write(&file, "i,j,type\na,g,cannot_link_grup\n").unwrap();
    assert!(message(&script, &scene).ends_with(
        "line 2: type must be one of must_link, cannot_link, dont_know, cannot_link_group, got \
         \"cannot_link_grup\"; did you mean \"cannot_link_group\"?"
    ));
    std::fs::write(&file, "i,j,reply\na,a,must_link\n").unwrap();
    assert!(message(&script, &scene).ends_with("line 2: object a with itself"));
    assert_eq!(scene.ctx.warnings(), [""; 0]);
    for (missing, fate) in [
        (Missing::DontKnow, "every question is answered \"don't know\""),
        (Missing::Refuse, "the first question is refused"),
    ] {
        let silent = Scripted { missing, ..Scripted::default() };
        let scene = Scene { ctx: Context::new(1), ..scene.clone() };
        assert!(silent.open(&scene).is_ok());
        let said = format!("scripted has no replies, so {fate}; give some by replies or file");
        assert_eq!(scene.ctx.warnings(), [said]);
    }
    let wrong = Scripted { replies: vec![line(0, 4, MustLink)], ..Scripted::default() };
    let said = "replies[0]: must be two different objects, 0 to 3, got (0, 4)";
    assert_eq!(message(&wrong, &scene), said);
}

#[test]
fn one_of_several_classifications_answers() {
    use Reply::{CannotLink, DontKnow, MustLink};
    let mut scene = scene(3, 1, 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("faces.csv");
    std::fs::write(&file, "id,person,pose\nc,ann,up\na,ann,up\nb,bob,\n").unwrap();
    let by = |target: Option<&str>| TruthMulti {
        labels: Some(file.display().to_string()),
        target: target.map(String::from),
    };
    // Ids of data that has none might be those of any rows.
    let said = message(&by(Some("person")), &scene);
    assert!(said.contains("has ids and no row \"0\", and the data has no ids"), "{said}");
    // The pairs 01 02 12: by row number, or in the order of the file.
    for rows in
        ["id,person,pose\n1,ann,up\n2,bob,?\n0,ann,up\n", "person,pose\nann,up\nann,up\nbob,-1\n"]
    {
        std::fs::write(&file, rows).unwrap();
        assert_eq!(replies(&by(Some("person")), &scene), [MustLink, CannotLink, CannotLink]);
        assert_eq!(replies(&by(Some("pose")), &scene), [MustLink, DontKnow, DontKnow]);
    }
    // Equal numbers are one class.
    std::fs::write(&file, "person\n1\n1.0\n2\n").unwrap();
    assert_eq!(replies(&by(Some("person")), &scene), [MustLink, CannotLink, CannotLink]);
    // Codes with zeros in front are not numbers.
    std::fs::write(&file, "person\n01234\n1234\n1234\n").unwrap();
    assert_eq!(replies(&by(Some("person")), &scene), [CannotLink, CannotLink, MustLink]);
    std::fs::write(&file, "id,person,pose\nc,ann,up\na,ann,up\nb,bob,\n").unwrap();
    scene.ids = Some(["a", "b", "c"].map(String::from).to_vec().into());
    assert_eq!(replies(&by(Some("person")), &scene), [CannotLink, MustLink, CannotLink]);
    let said = message(&by(None), &scene);
    assert_eq!(said, "target: must be one of the columns person, pose, got nothing");
    assert!(message(&by(Some("poses")), &scene).contains("did you mean \"pose\"?"));
    let alone = TruthMulti { target: Some("pose".into()), ..TruthMulti::default() };
    assert!(
        message(&alone, &scene).starts_with("target: must be absent unless labels names a file")
    );
    scene.ids = Some(["a", "b", "x"].map(String::from).to_vec().into());
    assert!(message(&by(Some("pose")), &scene).ends_with("no row has the id \"x\""));
}

#[test]
fn silence_is_an_end_and_no_error() {
    let mut silent = mustlink_oracles::none::None {}.open(&scene(3, 1, 1)).unwrap();
    assert_eq!(silent.ask(&question(0, 1)).unwrap(), Outcome::Refused(Refusal::Closed));
}
