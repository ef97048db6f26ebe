//! `map`: a picture of a congress's districts and of what is asked about them.

use std::path::Path;

use super::arguments::MapCommand;
use super::context::Context;
use super::error::{CliError, USAGE};
use super::output::{notes, size};
use super::places::{open_places, read_places};
use crate::app::MapRequest;
use crate::store::files::write_output;

/// The form of the picture, by its file name.
enum Form {
    Svg,
    Png,
}

/// Draws and writes.
pub(super) async fn run(context: &Context, command: MapCommand) -> Result<(), CliError> {
    let form = form_of(&command.out)?;
    let mut request = MapRequest {
        congress: command.congress,
        radius_meters: command.radius,
        width: command.width,
        ..MapRequest::default()
    };
    if let Some(text) = &command.bbox {
        request.bbox = Some(numbers(text, "--bbox", "min_lon,min_lat,max_lon,max_lat")?);
    }
    if let Some(text) = &command.point {
        let [lat, lon] = numbers(text, "--point", "lat,lon")?;
        request.point = Some((lat, lon));
    }
    let mut skipped = 0;
    if let Some(path) = &command.points {
        let (file, _) = open_places(path)?;
        (request.places, skipped) =
            read_places(file).map_err(|stopped| CliError::with_code(stopped.to_string(), 65))?;
    }
    let picture = context.mirror()?.map(&request).await?;
    let bytes = match form {
        Form::Svg => picture.svg.clone().into_bytes(),
        Form::Png => picture.png().map_err(|error| CliError::failed(error.to_string()))?,
    };
    write_output(&command.out, &bytes)?;
    println!("wrote {} ({})", command.out.display(), size(bytes.len() as u64));
    if skipped > 0 {
        println!("! {skipped} rows of the file are no places and aren't drawn");
    }
    for note in &picture.notes {
        println!("! {note}");
    }
    if let Some(from) = notes(&serde_json::json!({ "served": picture.served })).last() {
        println!("{from}");
    }
    Ok(())
}

fn form_of(path: &Path) -> Result<Form, CliError> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) if extension.eq_ignore_ascii_case("svg") => Ok(Form::Svg),
        Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(Form::Png),
        _ => {
            let message = format!("--out {}: name a file that ends in .svg or .png", path.display());
            Err(CliError::with_code(message, USAGE))
        }
    }
}

/// So many numbers between commas.
fn numbers<const COUNT: usize>(text: &str, option: &str, wanted: &str) -> Result<[f64; COUNT], CliError> {
    let parsed: Option<Vec<f64>> = text
        .split(',')
        .map(|part| part.trim().parse().ok().filter(|number: &f64| number.is_finite()))
        .collect();
    parsed
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| CliError::with_code(format!("{option} {text}: write {wanted}"), USAGE))
}
