//! The page of a session: what it lets in, what it shows, and a whole session in a browser.

use serde_json::{Value, json};

use super::super::support::Bench;
use super::Label;
use super::browser::Browser;
use super::http::{parts, send};

/// Questions of which the first four contradict where the first is changed.
fn method() -> String {
    let mut pairs = vec![(0, 50), (1, 51), (0, 1), (50, 51)];
    pairs.extend((0..45).map(|k| (2 + k, 52 + (k * 7) % 90)));
    let pairs: Vec<String> = pairs.iter().map(|(i, j)| format!("[{i}, {j}]")).collect();
    format!(
        "selector = {{ type = \"fixed_list\", pairs = [{}] }}\nclusterer = \"pck_means\"\nk = 3\n",
        pairs.join(", ")
    )
}

const SESSION: [&str; 10] = [
    "--data",
    "iris",
    "--method",
    "m.toml",
    "--ledger",
    "l.jsonl",
    "--out",
    "labels.csv",
    "--budget",
    "60",
];

/// Both ended the page for good.
#[cfg(unix)]
#[test]
fn connections_without_a_request_do_not_end_the_page() {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    let bench = Bench::with("m.toml", method());
    // Fewer open files than connections that are served at a time, and enough of them.
    for files in [40, 200] {
        let label = Label::start_within(&bench, files, &SESSION);
        let (host, path) = parts(&label.address);
        let answers = || assert_eq!(send(host, "GET", path, &[], "").status, 200);
        let connect = || TcpStream::connect(host).unwrap();
        for _ in 0..300 {
            let head =
                b"POST /x HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 99999999\r\n\r\n";
            // It may be closed by the other side.
            let _ = connect().write_all(head);
        }
        answers();
        for sent in [&b""[..], b"GET / HTTP/1.1\r\nHost: x\r\n", b"\0\xff\r\n\r\n"] {
            let mut idle: Vec<TcpStream> = (0..250).map(|_| connect()).collect();
            idle.iter_mut().for_each(|stream| drop(stream.write_all(sent)));
            answers();
        }
        let mut refused = connect();
        refused.write_all(b"POST /x HTTP/1.1\r\nContent-Length: 999999999999999\r\n\r\n").unwrap();
        let mut answer = String::new();
        refused.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        answers();
        label.kill();
        std::fs::remove_file(bench.path("l.jsonl")).unwrap();
    }
}

#[test]
fn only_the_page_gets_in_and_nothing_twice() {
    let bench = Bench::with("m.toml", method());
    let label = Label::start(&bench, &SESSION);
    let (host, path) = parts(&label.address);
    let get = |path: &str, headers: &[(&str, &str)]| send(host, "GET", path, headers, "");
    assert_eq!(get(path, &[]).status, 200);
    assert_eq!(get("/", &[]).status, 404);
    assert_eq!(get("/00000000000000000000000000000000/state", &[]).status, 404);
    assert_eq!(get(path, &[("Host", "evil.example")]).status, 403);
    let page = get(path, &[]);
    let policy = page.head.lines().find(|l| l.starts_with("Content-Security-Policy")).unwrap();
    assert!(policy.contains("default-src 'none'"), "{policy}");
    let state = || get(&format!("{path}state"), &[]).json();
    let mut before = state();
    while before["open"].is_null() {
        before = state();
    }
    let act = |body: &Value, headers: &[(&str, &str)]| {
        send(host, "POST", &format!("{path}act"), headers, &body.to_string())
    };
    let own = format!("http://{host}");
    let own = [("Origin", own.as_str())];
    let reply = json!({ "act": "reply", "turn": before["turn"], "reply": "cannot_link" });
    assert_eq!(act(&reply, &[]).status, 403);
    assert_eq!(act(&reply, &[("Origin", "http://evil.example")]).status, 403);
    assert_eq!(act(&json!({ "act": "reply" }), &own).status, 400);
    assert_eq!(act(&reply, &own).status, 200);
    assert_eq!(act(&reply, &own).status, 409);
    assert_eq!(state()["counts"]["answered"], 1);
    let look = |body: &Value| send(host, "POST", &format!("{path}look"), &own, &body.to_string());
    assert_eq!(look(&json!({ "look": "neighbours", "object": 150 })).status, 404);
    assert_eq!(look(&json!({ "look": "why", "i": "0", "j": "zebra" })).status, 404);
    let why = look(&json!({ "look": "why", "i": "0", "j": "50" })).json();
    assert_eq!((&why["kind"], &why["chain"][0]["answer"]), (&json!("cannot_link"), &json!(0)));
    let quit = json!({ "act": "quit", "turn": state()["turn"] });
    assert_eq!(act(&quit, &own).status, 200);
    let (status, said) = label.ended();
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("1 answer in l.jsonl"), "{said}");
    assert_eq!(bench.read("labels.csv").lines().count(), 151);
}

/// The guess about the open question is hidden, unless asked for; it comes with the answer.
#[test]
fn the_guess_is_sent_after_the_answer() {
    for shows in [false, true] {
        let bench = Bench::with("m.toml", method());
        let more: &[&str] = if shows { &["--show-guess"] } else { &[] };
        let label = Label::start(&bench, &[&SESSION[..], more].concat());
        let (host, path) = parts(&label.address);
        let own = format!("http://{host}");
        for answers in 0..8 {
            // The method has been run on all answers.
            let mut now = json!(null);
            while now["open"].is_null() || now["standing"]["answers"] != answers {
                let got = send(host, "GET", &format!("{path}state"), &[], "");
                let text = String::from_utf8(got.body.clone()).unwrap();
                assert!(
                    shows || !text.contains("\"says\":true") && !text.contains("\"says\":false")
                );
                now = got.json();
            }
            assert_eq!(now["standing"]["says"].is_boolean(), shows, "{now}");
            assert!(now["open"]["purpose"].is_null(), "{now}");
            assert_eq!((now["found"].is_null(), now["written"].is_null()), (true, true));
            let [a, b] = ["subject", "reference"].map(|which| now["open"][which].as_u64().unwrap());
            let reply = if a / 50 == b / 50 { "must_link" } else { "cannot_link" };
            let act = json!({ "act": "reply", "turn": now["turn"], "reply": reply }).to_string();
            let path = format!("{path}act");
            let said = send(host, "POST", &path, &[("Origin", own.as_str())], &act).json();
            let entry = said["entries"].as_array().unwrap().last().unwrap();
            assert_eq!(entry["guess"].is_boolean(), !shows, "{said}");
            let compared = if shows { 0 } else { answers + 1 };
            assert_eq!(said["standing"]["agreed"][1], compared, "{said}");
        }
    }
}

#[test]
fn the_page_ends_with_clusters_and_files() {
    let bench = Bench::with("m.toml", method());
    let label = Label::start(&bench, &[&SESSION[..9], &["2"]].concat());
    let (host, path) = parts(&label.address);
    let state = |since: &Value| {
        let since = if since.is_null() { String::new() } else { format!("?since={since}") };
        send(host, "GET", &format!("{path}state{since}"), &[], "").json()
    };
    let mut now = state(&json!(null));
    let own = format!("http://{host}");
    for act in [
        json!({ "act": "reply", "reply": "cannot_link" }),
        json!({ "act": "reply", "reply": "dont_know" }),
        json!({ "act": "quit" }),
    ] {
        while now["open"].is_null() && now["ended"].is_null() {
            now = state(&now["beat"]);
        }
        let mut act = act;
        act["turn"] = now["turn"].clone();
        let body = act.to_string();
        now = send(host, "POST", &format!("{path}act"), &[("Origin", own.as_str())], &body).json();
    }
    // The method had no time to read the last answers, but the labels are those of all.
    while now["written"].is_null() {
        now = state(&now["beat"]);
    }
    let files = json!([["Answers", "l.jsonl"], ["Labels", "labels.csv"]]);
    assert_eq!(now["written"]["files"], files);
    let next = [
        "mustlink ledger merge l.jsonl --data iris --out pairs.csv",
        "mustlink cluster --data iris --method m.toml --oracle none --constraints pairs.csv --out clusters.csv",
    ];
    assert_eq!(now["written"]["next"], json!(next));
    let again = "run the same command again with a larger --budget to continue";
    assert_eq!((&now["written"]["again"], &now["freshness"]), (&json!(again), &json!("current")));
    let labels = bench.read("labels.csv");
    assert_eq!(labels.lines().count(), 151);
    let clusters = now["found"]["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), 3);
    for c in clusters {
        let number = format!(",{}", c["number"]);
        let size = labels.lines().filter(|line| line.ends_with(&number)).count();
        assert_eq!(c["size"], size, "{c}");
        assert_eq!(c["typical"].as_array().unwrap().len(), 4);
        assert_eq!(c["typical"][0], c["medoid"]);
        assert!(c["medoid"]["name"].as_str().unwrap().starts_with("row "), "{c}");
    }
    let (status, said) = label.ended();
    let end = format!(
        "1 answer and 1 \"don't know\" in l.jsonl; {again}\nto use the answers with other methods:\n  {}\n  {}\n",
        next[0], next[1]
    );
    assert!(status == 0 && said.contains(&end), "{said}");
}

#[test]
fn hostile_cells_are_text_and_images_stay_in_their_folder() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("data/pictures")).unwrap();
    bench.write("secret.png", "secret");
    bench.write("data/pictures/a.png", "picture");
    let long = "x".repeat(10_000_000);
    let hostile = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>";
    bench.write(
        "data/t.csv",
        format!(
            "id,v,text,file\n\"{hostile}\",1,\"{hostile}\u{202e}\u{1b}[2J\",../secret.png\nb,2,{long},pictures/a.png\n"
        ),
    );
    let label = Label::start(
        &bench,
        &[
            "--data",
            "data/t.csv",
            "--id",
            "id",
            "--show-text",
            "text",
            "--image",
            "file",
            "--selector",
            "random_pairs",
            "--k",
            "2",
            "--ledger",
            "l.jsonl",
        ],
    );
    let (host, path) = parts(&label.address);
    let get = |what: &str| send(host, "GET", &format!("{path}{what}"), &[], "");
    let mut state = get("state");
    while state.json()["open"].is_null() {
        state = get("state");
    }
    assert!(state.body.len() < 100_000, "{} bytes", state.body.len());
    assert!(!String::from_utf8_lossy(&state.body).contains(['\u{202e}', '\u{1b}']));
    assert_eq!(state.json()["subject"]["name"], state.json()["subject"]["shown"]["id"]);
    assert_eq!(get("image/0").status, 404);
    let image = get("image/1");
    assert_eq!((image.status, image.body.as_slice()), (200, &b"picture"[..]));
    for other in ["image/2", "image/-1", "image/../../secret.png", "../secret.png", "image/"] {
        assert_eq!(get(other).status, 404, "{other}");
    }
    let Some(browser) = Browser::start() else { return };
    browser.look(400, false);
    browser.go(&label.address);
    browser.wait("state && state.open");
    assert_eq!(browser.run("return window.hacked === undefined"), true);
    assert!(browser.text("pair").contains("<script>window.hacked = 1</script>"));
    assert!(browser.text("pair").contains("(10000000 characters in all)"));
    for key in ["b", "c", "l", "g"] {
        browser.press(&[key]);
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert_eq!(browser.run("return window.hacked === undefined"), true, "{key}");
    }
    assert_eq!(browser.run(OVERFLOWS), json!([]));
}

/// The shown parts of two objects of `data`, which have the ids `a`, `b` … or none.
fn shown(bench: &Bench, arguments: &[&str]) -> Vec<Value> {
    let common = ["--selector", "random_pairs", "--k", "2", "--ledger", "l.jsonl"];
    let label = Label::start(bench, &[arguments, &common[..]].concat());
    let (host, path) = parts(&label.address);
    let state = || send(host, "GET", &format!("{path}state"), &[], "").json();
    let mut now = state();
    while now["open"].is_null() {
        now = state();
    }
    ["subject", "reference"].map(|which| now[which]["shown"].clone()).to_vec()
}

#[test]
fn words_gaps_and_sparse_rows_are_shown() {
    let bench = Bench::with("t.csv", "id,colour,size\na,red,1.5\nb,blue,\nc,red,2\n");
    let steps = "transforms=[\"impute_missing\",\"one_hot\"]";
    let options = ["--data", "t.csv", "--id", "id", "--set", steps, "--clusterer", "pck_means"];
    for of in shown(&bench, &options) {
        let (colour, size) = match of["id"].as_str().unwrap() {
            "a" => ("red", "1.5"),
            "b" => ("blue", ""),
            _ => ("red", "2"),
        };
        assert_eq!(of["cells"], json!([["colour", colour], ["size", size]]), "{of}");
    }
    let bench = Bench::new();
    std::fs::create_dir(bench.path("texts")).unwrap();
    let head = "%%MatrixMarket matrix coordinate real general\n";
    bench.write("texts/matrix.mtx", format!("{head}2 3 4\n1 1 1\n1 3 4\n2 1 3\n2 2 2\n"));
    bench.write("texts/terms.txt", "tea\nmilk\nrain\n");
    for of in shown(&bench, &["--data", "./texts", "--clusterer", "pck_means"]) {
        let text = if of["id"] == "row 0" { "rain 4, tea 1" } else { "tea 3, milk 2" };
        assert_eq!(of["text"], text, "{of}");
    }
}

/// The elements that are wider than the window.
const OVERFLOWS: &str = "return [...document.querySelectorAll('body *')].filter((e) => \
    e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.text')).map((e) => e.outerHTML.slice(0, 200))";

/// Texts whose contrast to what is behind them is below 4.5 : 1 (WCAG 2.1, AA).
const FAINT: &str = r"
const part = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const numbers = (c) => c.match(/[\d.]+/g).map(Number);
const light = (c) => { const [r, g, b] = numbers(c).map(part); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
  if (numbers(c).length < 4 || numbers(c)[3] > 0) return c; } return 'rgb(255, 255, 255)'; };
return [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() &&
  [...e.childNodes].some((t) => t.nodeType === 3 && t.data.trim())).filter((e) => {
  const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05) < 4.5; }).map((e) => e.outerHTML.slice(0, 200));";

/// Answers `most` open questions as the classes of the objects do.
fn answer(browser: &Browser, class: impl Fn(usize) -> usize, most: usize) {
    for _ in 0..most {
        browser.wait("state.open");
        let asked = |which: &str| {
            let object = browser.run(&format!("return state.open.{which}"));
            class(object.as_u64().unwrap() as usize)
        };
        let same = asked("subject") == asked("reference");
        let turn = browser.run("return state.turn");
        browser.press(&[if same { "y" } else { "n" }]);
        browser.wait(&format!("state.turn > {turn}"));
    }
}

const BACKSPACE: &str = "\u{e003}";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const TAB: &str = "\u{e004}";

#[test]
fn forty_answers_by_keyboard_with_undo_conflict_kill_and_resume() {
    let Some(browser) = Browser::start() else { return };
    let bench = Bench::with("m.toml", method());
    let label = Label::start(&bench, &SESSION);
    browser.look(1400, false);
    browser.go(&label.address);
    browser.wait("state && state.open");
    // Enter never means yes, wherever the focus is.
    browser.press(&[ENTER, TAB, TAB, TAB, TAB, ENTER]);
    assert_eq!(browser.run("return document.activeElement.dataset.does"), "same");
    answer(&browser, |o| o / 50, 10);
    assert_eq!(browser.text("counts"), "10 of 60 answered");
    browser.press(&[BACKSPACE]);
    browser.wait("state.entries.length === 9");
    browser.reload();
    browser.wait("state && state.open");
    assert_eq!(browser.run("return state.entries.length"), 9);
    browser.press(&[BACKSPACE]);
    browser.wait("state.entries.length === 8");
    answer(&browser, |o| o / 50, 2);
    // The first answer is changed: that contradicts, and is shown with the answers that it clashes with.
    browser.press(&["l"]);
    browser.run("document.querySelector('[aria-label=\"change q0 to same\"]').focus()");
    browser.press(&[ENTER]);
    browser.wait("document.getElementById('message').innerText.includes('contradicts')");
    assert_eq!(browser.run("return document.querySelectorAll('#message li').length"), 3);
    for (width, dark) in [(1400, false), (1400, true), (400, false), (400, true)] {
        browser.look(width, dark);
        for key in ["g", "c", "b", "w", "l", "?"] {
            browser.press(&[ESCAPE, key]);
            std::thread::sleep(std::time::Duration::from_millis(150));
            assert_eq!(browser.run(OVERFLOWS), json!([]), "{width} {key}");
            assert_eq!(browser.run(FAINT), json!([]), "{dark} {key}");
            browser.picture(&format!(
                "iris-{width}-{}-{}",
                if dark { "dark" } else { "light" },
                key.replace('?', "help")
            ));
        }
    }
    browser.look(1400, false);
    browser.press(&[ESCAPE]);
    assert_eq!(browser.run("return state.entries.length"), 10);
    // A connection that was cut off while the machine slept is made again, and what was pressed is not lost in silence.
    browser.run(
        "window.awake = window.fetch; window.fetch = () => Promise.reject(new Error('asleep'))",
    );
    browser.press(&["n"]);
    browser.wait("document.getElementById('message').innerText.includes('does not answer')");
    browser.run("window.fetch = window.awake");
    browser.wait("document.getElementById('message').innerText === ''");
    assert_eq!(browser.run("return state.entries.length"), 10);
    label.kill();
    browser.wait("document.getElementById('message').innerText.includes('has ended')");
    let label = Label::start(&bench, &SESSION);
    browser.go(&label.address);
    browser.wait("state && state.open");
    assert_eq!(browser.run("return state.entries.length"), 10);
    // Space on a button that has the focus presses that button; elsewhere it means "don't know".
    answer(&browser, |o| o / 50, 29);
    browser.press(&["m", "w", "h", "y", ENTER, " "]);
    browser.wait("state.counts.unsure === 1");
    assert_eq!(browser.run("return state.entries.at(-1).note"), "why");
    browser.press(&["s"]);
    browser.wait("state.counts.later === 1");
    // A person's name for what a screen reader announces.
    let live = browser.run(
        "return [document.querySelector('#ask').getAttribute('aria-live'), document.querySelector('#message').getAttribute('role')]",
    );
    assert_eq!(live, json!(["polite", "alert"]));
    browser.press(&["q"]);
    let (status, said) = label.ended();
    assert_eq!(status, 0, "{said}");
    assert_eq!(bench.read("labels.csv").lines().count(), 151);
}

#[test]
fn a_gap_of_a_curve_is_not_drawn_as_nought() {
    let Some(browser) = Browser::start() else { return };
    let bench = Bench::with("t.csv", "id,a,b,c\nx,100,,110\ny,101,105,111\n");
    let steps = "transforms=[\"impute_missing\"]";
    let data = ["--data", "t.csv", "--id", "id", "--series", "--set", steps];
    let method = ["--clusterer", "pck_means", "--selector", "random_pairs", "--k", "2"];
    let label = Label::start(&bench, &[&data[..], &method[..], &["--ledger", "l.jsonl"]].concat());
    browser.go(&label.address);
    browser.wait("document.querySelectorAll('polyline').length === 2");
    let said = browser.run(
        "return [...document.querySelectorAll('svg')].map((s) => s.getAttribute('aria-label') + ', ' + \
         s.firstChild.getAttribute('points').split(' ').length).sort()",
    );
    assert_eq!(said, json!(["2 numbers from 100 to 110, 2", "3 numbers from 101 to 111, 3"]));
}

/// An image of 8 × 8 grey values from 0 to 16, as a BMP.
fn bmp(values: &[f64]) -> Vec<u8> {
    let mut out = b"BM".to_vec();
    let word = |out: &mut Vec<u8>, v: u32| out.extend_from_slice(&v.to_le_bytes());
    for v in [54 + 192, 0, 54, 40, 8, 8, 1 | 24 << 16, 0, 192, 2835, 2835, 0, 0] {
        word(&mut out, v);
    }
    for row in (0..8).rev() {
        for column in 0..8 {
            let grey = 255 - (values[8 * row + column] * 15.0) as u8;
            out.extend([grey, grey, grey]);
        }
    }
    out
}

const DIGITS: [&str; 16] = [
    "--data",
    "digits.csv",
    "--id",
    "name",
    "--image",
    "file",
    "--selector",
    "random_pairs",
    "--clusterer",
    "pck_means",
    "--k",
    "10",
    "--ledger",
    "l.jsonl",
    "--out",
    "labels.csv",
];

#[test]
fn images_are_sorted_and_clusters_joined() {
    let Some(browser) = Browser::start() else { return };
    let digits = mustlink_datasets::open("digits", &Default::default()).unwrap();
    let (bench, n) = (Bench::new(), 80);
    std::fs::create_dir(bench.path("images")).unwrap();
    let header: Vec<String> = (0..64).map(|p| format!("p{p}")).collect();
    let mut table = format!("name,file,{}\n", header.join(","));
    let x = digits.data.as_array().unwrap();
    for i in 0..n {
        let values: Vec<f64> = x.row(i).to_vec();
        let file = format!("images/digit {i}.bmp");
        bench.write(&file, bmp(&values));
        let cells: Vec<String> = values.iter().map(f64::to_string).collect();
        table += &format!("d{i},{file},{}\n", cells.join(","));
    }
    bench.write("digits.csv", table);
    let label = Label::start(&bench, &DIGITS);
    browser.look(1400, false);
    browser.go(&label.address);
    browser.wait("state && state.open");
    browser.wait("[...document.querySelectorAll('#pair img')].filter((i) => i.naturalWidth === 8).length === 2");
    browser.picture("digits-question");
    browser.press(&["g"]);
    browser.wait("document.querySelectorAll('#sorted img').length === 8");
    browser.picture("digits-sort");
    // The first three in one group, the others each alone.
    browser.run(
        "for (const at of [1, 2]) document.querySelector(`[name=group-${at}][value='1']`).click()",
    );
    browser.run("document.getElementById('sorting').click()");
    browser.wait("state.counts.same === 2");
    assert_eq!(browser.run("return state.counts.different"), 5 * 6 / 2);
    browser.press(&[BACKSPACE]);
    browser.wait("state.entries.length === 0");
    browser.wait("state.standing !== null");
    browser.press(&["c"]);
    browser.wait("document.querySelectorAll('#found > article').length === 10");
    browser.picture("digits-clusters");
    browser.run("[...document.querySelectorAll('#found button')].find((b) => b.innerText.startsWith('Merge')).click()");
    browser.wait("state.counts.same === 1");
    // They show the guess, and do not stay on the screen for the next question.
    browser.wait("state.open && !opened().length");
    browser.press(&[BACKSPACE]);
    browser.wait("state.entries.length === 0");
    // A whole session, undone a little and resumed after a kill.
    let labels = digits.classes.as_ref().unwrap().labels.clone();
    let class = |o: usize| labels[o].unwrap() as usize;
    answer(&browser, class, 20);
    browser.press(&[BACKSPACE]);
    browser.wait("state.entries.length === 19");
    browser.reload();
    browser.wait("state && state.open");
    label.kill();
    let label = Label::start(&bench, &DIGITS);
    browser.go(&label.address);
    browser.wait("state && state.open");
    assert_eq!(browser.run("return state.entries.length"), 19);
    answer(&browser, class, 21);
    assert_eq!(browser.run("return state.entries.length"), 40);
    browser.look(400, true);
    assert_eq!(browser.run(OVERFLOWS), json!([]));
    browser.picture("digits-small");
    // A finger to the left: different.
    browser.run("scrollTo(0, 0)");
    browser.swipe((300.0, 500.0), (120.0, 510.0));
    browser.wait("state.entries.length === 41");
    assert_eq!(browser.run("return state.entries.at(-1).reply"), "cannot_link");
    browser.press(&["q"]);
    let (status, said) = label.ended();
    assert_eq!(status, 0, "{said}");
    assert_eq!(bench.read("labels.csv").lines().count(), n + 1);
}
