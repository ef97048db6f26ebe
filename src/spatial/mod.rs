//! Mercator, geometry decoding, indexes and the three operations.
//!
//! Upstream the operations are PostGIS functions over two relations; here they are computed from the mirrored rows,
//! with the same comparisons on the same numbers. Everything is pure: rows come in as plain structs, answers go out
//! as rows with their warnings, and no step reads a file, the clock or the environment.
//!
//! In the order data passes through:
//!
//! - [`projection`]: degrees to the metres of EPSG:3857, bit for bit the same on every host.
//! - [`geometry`]: WKB and EWKB from outside, into [`geo`] types; hostile bytes end in a typed error.
//! - [`boxes`]: bounding boxes as PostGIS compares them, and the list of a congress's.
//! - [`containment`]: which points a multipolygon contains, by the plain determinant; [`edge_index`] answers the same
//!   question without visiting every edge.
//! - [`points`]: a packed tree over projected points.
//! - [`districts`], [`nonprofits`]: the two relations, indexed; built from rows, stored as files, opened from files.
//! - [`index_file`]: the container of those files and everything that is checked before one is believed.
//! - [`operation`], [`answer`]: arguments to a typed request, and a request to rows, counts and warnings.
//!
//! Library code is used where it decides the same way: `wkb` reads the bytes, `geo` holds the shapes and checks the
//! determinant against an exact predicate, `arrow`'s buffers hold what is read from a file without copying it, `libm`
//! gives the transcendental functions. Own code is what decides an answer and differs from every library: containment by PostGIS's rule (the
//! `geo` crate uses an exact predicate and counts some borders as inside), its edge index, float32 boxes (too few per
//! congress for a tree to pay), and the packed points (flat arrays that are stored as they are, with a total beside the
//! nearest few).

pub mod answer;
pub mod boxes;
pub mod containment;
pub mod districts;
pub mod edge_index;
pub mod geometry;
pub mod index_file;
pub mod nonprofits;
pub mod operation;
pub mod points;
pub mod projection;
mod stored_text;

pub use answer::{MapView, SpatialAnswer, SpatialMetadata};
pub use districts::{CongressMap, DistrictRow, Districts};
pub use nonprofits::{NonprofitRow, Nonprofits};
pub use operation::{
    DistrictsInBbox, FindDistrict, NonprofitsNearby, SpatialArguments, SpatialRefusal, SpatialRequest,
};
