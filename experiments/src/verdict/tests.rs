//! Formulas on two small data sets: numbers worked out by hand, mistakes by their messages.

use std::collections::BTreeMap;

use crate::statistics::Unit;

use super::check::Names;
use super::evaluate::{Results, SetResults};
use super::parse::Formula;
use super::value::{CurveValues, EvalError};

fn names() -> Names<'static> {
    Names {
        columns: vec!["ari", "nmi_geo", "time_cluster_s"],
        methods: vec!["a", "b + c"],
        datasets: vec!["iris", "wine"],
    }
}

/// Two data sets, three repeats; b is a + 0.1 on iris and a − 0.1 on wine, with some spread.
fn results() -> Results {
    let curve = |shift: f64| -> CurveValues {
        let at = |p: f64, base: f64| {
            (p, (0..3).map(|r| ((r, 0), base + shift * (1.0 + 0.1 * r as f64))).collect())
        };
        vec![at(0.0, 0.2), at(10.0, 0.6), at(20.0, 0.5)]
    };
    let set = |id: &str, n: usize, shift: f64| SetResults {
        id: id.into(),
        n,
        d: 4,
        classes: Some(3),
        curves: BTreeMap::from([
            (("ari".into(), "a".into()), curve(0.0)),
            (("ari".into(), "b + c".into()), curve(shift)),
            (("time_cluster_s".into(), "a".into()), {
                let time = (n * n) as f64;
                vec![
                    (1.0, BTreeMap::from([((0, 0), time)])),
                    (4.0, BTreeMap::from([((0, 0), 4.0 * time)])),
                ]
            }),
        ]),
    };
    let sets = vec![set("iris", 100, 0.1), set("wine", 200, -0.1)];
    Results { sets, level: 0.95, unit: Unit::Fold, held_back: Some(0.25) }
}

fn number(text: &str, set: Option<usize>) -> f64 {
    Formula::parse(text).unwrap().number(&results(), set).unwrap().0
}

fn holds(text: &str, set: Option<usize>) -> bool {
    let formula = Formula::parse(text).unwrap();
    formula.check(&names(), true).unwrap();
    formula.judge(&results(), set).unwrap().holds
}

#[track_caller]
fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} is not {b}");
}

#[test]
fn operators_bind_as_in_arithmetic() {
    near(number("1 + 2 * 3 - 4 / 2", None), 5.0);
    near(number("-(1 + 2) * 3", None), -9.0);
    near(number("10 - 3 - 2", None), 5.0);
    assert!(holds("not 1 > 2 and 2 >= 2 or 1 == 2", Some(0)));
    assert!(!holds("not (1 < 2)", Some(0)));
    near(number("n * d + classes", Some(1)), 803.0);
}

#[test]
fn functions_of_curves_give_the_numbers_worked_out_by_hand() {
    near(number("last(ari('a'))", Some(0)), 0.5);
    near(number("at(ari('a'), 10) - first(ari('a'))", Some(0)), 0.4);
    near(number("area(ari('a'))", Some(0)), (0.4 + 0.55) / 2.0);
    near(number("area(between(ari('a'), 0, 10))", Some(0)), 0.4);
    near(number("max(ari('a')) - last(means(ari('a')))", Some(0)), 0.1);
    near(number("average(abs(means(ari('a') - ari('b + c'))))", Some(1)), 0.11);
    near(number("median(last(curve('ari', 'b + c')))", Some(0)), 0.61);
    near(number("slope(time_cluster_s('a'))", Some(0)), 1.0);
    near(number("low(last(ari('a')))", Some(0)), 0.5);
}

#[test]
fn differences_are_paired() {
    assert!(holds("low(last(ari('b + c') - ari('a'))) > 0", Some(0)));
    assert!(holds("high(last(ari('b + c')) - last(ari('a'))) < 0", Some(1)));
    assert!(holds("confidence(ari('b + c') - ari('a')) == 99", Some(0)));
    assert!(holds("confidence(ari('b + c') - ari('a')) == 0", Some(1)));
    assert!(holds("confidence_resampled(ari('b + c') - ari('a')) >= 97.5", Some(0)));
    // Nothing is tested where there is one observation, and nothing found.
    let one = Formula::parse("confidence(time_cluster_s('a')) < 95").unwrap();
    let one = one.judge(&results(), Some(0));
    assert!(matches!(one, Err(EvalError::NoData(_))), "{one:?}");
}

#[test]
fn pairs_that_are_dropped_are_counted() {
    let mut results = results();
    let key = ("ari".to_string(), "b + c".to_string());
    let curve = results.sets[0].curves.get_mut(&key).unwrap();
    curve[2].1.remove(&(1, 0));
    let said = |text: &str| Formula::parse(text).unwrap().judge(&results, Some(0)).unwrap().numbers;
    let dropped = "1 of 3 pairs dropped: one side has no value";
    assert_eq!(said("last(ari('b + c') - ari('a')) > 0"), [dropped, "0.1100 > 0"]);
    assert_eq!(said("last(ari('b + c')) - last(ari('a')) > 0"), [dropped, "0.1100 > 0"]);
    assert_eq!(said("first(ari('b + c') - ari('a')) > 0")[1..], ["0.1100 > 0"]);
}

#[test]
fn what_is_divided_by_nothing_is_dropped_and_said() {
    let mut results = results();
    let curve = results.sets[0].curves.get_mut(&("ari".into(), "a".into())).unwrap();
    curve[2].1.insert((1, 0), 0.0);
    let judge = |text: &str| Formula::parse(text).unwrap().judge(&results, Some(0));
    let one = judge("last(ari('a') / ari('a')) == 1").unwrap();
    assert_eq!(
        (one.holds, one.numbers[0].as_str()),
        (true, "1 of 9 quotients dropped: division by 0")
    );
    for none in ["1 / 0 > 3", "last((ari('a') - ari('a')) / (ari('a') - ari('a'))) > 0"] {
        assert_eq!(judge(none), Err(EvalError::NoData("division by 0".into())));
    }
}

#[test]
fn curves_of_other_points_are_not_compared() {
    let results = results();
    let judge = |text: &str| Formula::parse(text).unwrap().judge(&results, Some(0));
    for text in [
        "last(ari('a') - between(ari('b + c'), 0, 10)) > 0",
        "last(ari('a') - between(ari('b + c'), 10, 20)) > 0",
        "last(means(ari('a')) - means(between(ari('b + c'), 0, 10))) > 0",
    ] {
        assert_eq!(
            judge(text),
            Err(EvalError::NoData("curves with other points".into())),
            "{text}"
        );
    }
}

/// Two repeats of two folds. The second fold is .4 harder; b is .1 better, and failed in the first fold of the
/// second repeat.
#[test]
fn differences_are_of_cells_and_means_of_units() {
    let cells = |values: &[((usize, usize), f64)]| vec![(0.0, values.iter().copied().collect())];
    let a = [((0, 0), 0.8), ((0, 1), 0.4), ((1, 0), 0.8), ((1, 1), 0.4)];
    let b = [((0, 0), 0.9), ((0, 1), 0.5), ((1, 1), 0.5)];
    let of = |method: &str, values| (("ari".to_string(), method.to_string()), cells(values));
    let curves = BTreeMap::from([of("a", &a), of("b + c", &b)]);
    let set = SetResults { id: "iris".into(), curves, ..SetResults::default() };
    let results = Results { unit: Unit::Repeat, sets: vec![set], ..results() };
    let number = |text: &str| Formula::parse(text).unwrap().number(&results, Some(0)).unwrap();
    near(number("last(ari('b + c'))").0, 0.6);
    let (difference, interval) = number("last(ari('b + c') - ari('a'))");
    near(difference, 0.1);
    near(interval.unwrap().1, 0.1);
    let judged = Formula::parse("last(ari('b + c') - ari('a')) > 0").unwrap();
    let said = judged.judge(&results, Some(0)).unwrap().numbers;
    assert_eq!(said, ["1 of 4 pairs dropped: one side has no value", "0.1000 > 0"]);
    // A comparison is one of the same cells, too: the means of all that each has are both .6.
    let judged = Formula::parse("last(ari('b + c')) > last(ari('a'))").unwrap();
    let judged = judged.judge(&results, Some(0)).unwrap();
    assert!(judged.holds);
    let said = ["1 of 4 pairs dropped: one side has no value", "0.6000 > 0.5000"];
    assert_eq!(judged.numbers, said);
    // So is a test over data sets: in both b is ahead.
    let both = vec![results.sets[0].clone(), results.sets[0].clone()];
    let results = Results { sets: both, ..results };
    let test = Formula::parse("holm_sets(last(ari('a')), last(ari('b + c'))) < 0.5").unwrap();
    let judged = test.judge(&results, None).unwrap();
    assert!(judged.holds, "{judged:?}");
    assert_eq!(judged.numbers[0], "iris: 1 value dropped, because another side has no value there");
}

#[test]
fn a_set_without_a_value_is_passed_over_or_missing() {
    let mut results = results();
    results.sets[0].curves.remove(&("ari".to_string(), "b + c".to_string()));
    for text in [
        "mean_sets(last(ari('b + c') - ari('a'))) < 0",
        "count_sets(last(ari('b + c') - ari('a')) > 0) == 0",
    ] {
        let formula = Formula::parse(text).unwrap();
        assert!(formula.judge(&results, None).unwrap().holds);
        let missing = EvalError::NoData("iris: ari of b + c".into());
        assert_eq!(formula.judge_all(&results), Err(missing));
    }
    // Where none has a value there is nothing to count.
    let none = Formula::parse("count_sets(last(nmi_geo('a')) > 0) == 0").unwrap();
    assert!(matches!(none.judge(&results, None), Err(EvalError::NoData(_))));
    let holm = Formula::parse("holm_sets(last(ari('a')), last(ari('b + c'))) < 0.05").unwrap();
    assert_eq!(holm.judge_all(&results), Err(EvalError::NoData("iris: ari of b + c".into())));
}

#[test]
fn functions_over_data_sets_gather_every_set() {
    assert!(holds("count_sets(area(ari('b + c')) > area(ari('a'))) == 1", None));
    near(number("slope_sets(first(time_cluster_s('a')))", None), 2.0);
    near(number("mean_sets(n) + sets()", None), 152.0);
    near(number("in_set('wine', n) - in_set('iris', n)", None), 100.0);
    let formula = Formula::parse("count_sets(n > 150) >= 1").unwrap();
    let judged = formula.judge(&results(), None).unwrap();
    assert_eq!(judged.numbers, ["iris: 100 > 150", "wine: 200 > 150", "1 >= 1"]);
}

#[test]
fn missing_results_are_no_data() {
    let formula = Formula::parse("last(nmi_geo('a')) > 0").unwrap();
    let judged = formula.judge(&results(), Some(0));
    assert_eq!(judged, Err(EvalError::NoData("nmi_geo of a".into())));
    let formula = Formula::parse("at(ari('a'), 7) > 0").unwrap();
    assert!(matches!(formula.judge(&results(), Some(0)), Err(EvalError::NoData(_))));
}

#[test]
fn mistakes_are_named() {
    let said = |text: &str| match Formula::parse(text) {
        Err(e) => e,
        Ok(f) => f.check(&names(), true).unwrap_err(),
    };
    for (text, expected) in [
        ("1 +", "at character 4: expected a number, a name or \"(\", found the end"),
        ("(1 > 2", "at character 7: expected \")\", found the end"),
        ("1 > 2 > 3", "at character 7: expected \"and\" between two comparisons, found \">\""),
        ("1 > 2 3", "at character 7: expected an operator or the end, found 3"),
        ("ari('a) > 1", "at character 5: a quote stays open; write one within a name twice"),
        (
            "last(ari('it's')) > 1",
            "at character 15: a quote stays open; write one within a name twice",
        ),
        ("last(ari('it''s')) > 0", "no method 'it's'"),
        ("1 % 2 > 1", "at character 3: \"%\" has no meaning"),
        ("1.2.3 > 1", "at character 1: \"1.2.3\" is not a number"),
        ("1 = 1", "at character 3: \"=\" has no meaning"),
        ("last(ari(a)) > 0", "ari takes a method between single quotes"),
        ("last(arii('a')) > 0", "no function or column \"arii\"; did you mean \"ari\"?"),
        ("last(ari('x')) > 0", "no method 'x'"),
        ("in_set('irsi', n) > 0", "no data set 'irsi'; did you mean \"iris\"?"),
        ("m > 0", "no number of a data set 'm'"),
        ("at(ari('a')) > 0", "at takes 2 arguments, got 1"),
        ("ari('a') > 0", "> takes numbers, got a curve (take last, at, area, …)"),
        ("last(ari('a'))", "must be true or false, is a value per cell"),
        ("n and 1 > 0", "and takes true or false, got a number"),
        ("low(3) > 0", "low takes something else, got a number"),
        ("count_sets(n) > 1", "count_sets takes true or false, got a number"),
        (
            "sets() > 1 and last(ari('a')) > 0",
            "ari is of one data set; put it into count_sets, mean_sets, in_set, …",
        ),
    ] {
        assert_eq!(said(text), expected, "{text}");
    }
    assert_eq!(said(&"(".repeat(5000)), "nested too deeply");
    assert_eq!(said(&format!("{}1", "1+".repeat(50_000))), "has more than 500 operators");
    let number = Formula::parse("ari('a')").unwrap().check(&names(), false);
    assert_eq!(number.unwrap_err(), "must be a number, is a curve (take last, at, area, …)");
}

#[test]
fn points_that_a_formula_names_are_known() {
    let of = |text: &str| Formula::parse(text).unwrap().points();
    assert_eq!(of("not at(ari('a'), 10) > -at(ari('a') - ari('b + c'), 20)"), [10.0, 20.0]);
    assert!(of("last(ari('a')) > at(ari('a'), n)").is_empty());
}

#[test]
fn a_quote_within_a_name_stands_twice() {
    let names = Names { methods: vec!["it's", "'", "a"], ..names() };
    let said = |text: &str| Formula::parse(text).and_then(|f| f.check(&names, true));
    for good in ["last(ari('it''s')) > 0", "last(ari('''')) < last(curve('ari', 'it''s'))"] {
        assert_eq!(said(good), Ok(()), "{good}");
    }
    assert_eq!(said("last(ari('')) > 0"), Err("no method ''".into()));
}

#[test]
fn tests_over_data_sets() {
    // b is ahead on iris by .1 and behind on wine by as much: two differences of opposite sign.
    near(number("wilcoxon_sets(last(ari('b + c')) - last(ari('a')))", None), 1.0);
    near(number("holm_sets(last(ari('a')), last(ari('b + c')))", None), 1.0);
    assert!(holds("holm_printed_sets(n, -n) < holm_sets(n, -n)", None));
    // Three numbers 0, 1, 2.
    near(number("spread(0, 1, 2)", Some(0)), 1.0);
    near(number("spread(last(ari('a')), last(ari('a')))", Some(0)), 0.0);
    let one = Formula::parse("spread(1)").unwrap();
    assert_eq!(one.check(&names(), false).unwrap_err(), "spread takes 2 or more arguments, got 1");
}
