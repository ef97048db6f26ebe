//! `rpc --csv` and `map`: files of places in, answered files and pictures out.

use super::own;

#[test]
fn a_file_of_places_is_answered_row_by_row() {
    let home = &own().home;
    let places = home
        .write("places.csv", "name,lat,lon\n\"Denver, CO\",39.7392,-104.9903\nnowhere,0,0\nbroken,north,0\n");
    let answered = home.path("answered.csv");
    let arguments = ["rpc", "find_district", "--congress", "118", "--csv"];
    let run = |more: &[&std::ffi::OsStr]| {
        let all = arguments
            .iter()
            .map(std::ffi::OsStr::new)
            .chain([places.as_os_str()])
            .chain(more.iter().copied());
        home.run(all)
    };
    let ended = run(&["--out".as_ref(), answered.as_os_str()]).with(2, "1 of 3 rows");
    assert!(ended.stderr.contains("line 4: latitude \"north\" is not a number"), "{}", ended.stderr);
    assert!(ended.stderr.contains("from snapshot content"), "{}", ended.stderr);
    let text = std::fs::read_to_string(&answered).expect("answered");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "name,lat,lon,district_id,statename,district,congress_number,error");
    assert!(
        lines[1].starts_with("\"Denver, CO\",39.7392,-104.9903,") && lines[1].contains(",Colorado,"),
        "{text}"
    );
    assert_eq!(lines[2], "nowhere,0,0,,,,118,");
    assert!(lines[3].starts_with("broken,north,0,,,,,") && lines.len() == 4, "{text}");
    // The same on stdout; nothing but rows there.
    assert_eq!(run(&[]).stdout, text);

    // Stopping leaves no file behind.
    let stopped = home.path("stopped.csv");
    run(&["--on-error".as_ref(), "stop".as_ref(), "--out".as_ref(), stopped.as_os_str()]).with(65, "line 4");
    assert!(!stopped.exists() && !home.path("stopped.csv.part").exists());
    run(&["--lat-column".as_ref(), "breite".as_ref()]).with(65, "breite");
    run(&["--lat".as_ref(), "1".as_ref()]).with(64, "--lat");
    home.run(["rpc", "find_district", "--csv", "no/such/file.csv"]).with(66, "no/such/file.csv");
    home.run(["rpc", "find_district", "--out", "x.csv"]).with(3, "Add lat");
    run(&["--format".as_ref(), "parquet".as_ref()]).with(64, "--csv is answered as CSV");
}

#[test]
fn a_map_is_written_as_a_picture() {
    let home = &own().home;
    for (name, head) in [("map.svg", "<svg"), ("map.png", "\u{89}PNG")] {
        let path = home.path(name);
        home.run([
            "map".as_ref(),
            "--congress".as_ref(),
            "118".as_ref(),
            "--width".as_ref(),
            "640".as_ref(),
            "--point".as_ref(),
            "39.74,-104.99".as_ref(),
            "--out".as_ref(),
            path.as_os_str(),
        ])
        .with(0, "wrote ");
        let bytes = std::fs::read(&path).expect("a picture");
        let start: String = bytes.iter().take(4).map(|byte| char::from(*byte)).collect();
        assert_eq!(start, head);
    }
    let picture = home.path("no.png");
    let map = |more: &[&str]| {
        let all = ["map".as_ref(), "--out".as_ref(), picture.as_os_str()].into_iter();
        home.run(all.chain(more.iter().map(std::ffi::OsStr::new)))
    };
    map(&["--point", "39.74"]).with(64, "lat,lon");
    map(&["--point", "91,0"]).with(3, "90");
    map(&["--bbox", "1,2,0,3"]).with(3, "min_lon");
    map(&["--congress", "7"]).with(3, "congress 7");
    map(&["--radius", "5"]).with(64, "--point");
    home.run(["map", "--out", "picture.gif"]).with(64, ".svg or .png");
    assert!(!picture.exists());
}
