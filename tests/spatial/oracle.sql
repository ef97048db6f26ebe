-- The tables and the three operations as PostGIS computes them, each once from degrees (as published) and once from
-- projected metres, so that last-bit cases feed both sides identical numbers.
create extension postgis;
set client_min_messages = warning;

create table districts (
  id bigint primary key, congress_number bigint not null, statename text, district bigint, district_id text,
  geom geometry(MultiPolygon, 3857));
create table nonprofits (
  id bigint primary key, ein text, org_name_current text, ntee_irs text, f990_org_addr_state text,
  is_current boolean, geom_point geometry(Point, 4326));

create function projected(lat float8, lon float8) returns geometry language sql immutable as $$
  select st_transform(st_setsrid(st_point(lon, lat), 4326), 3857) $$;

-- Containment and boxes in projected metres.
create function containing(congress bigint, x float8, y float8) returns table (id bigint) language sql stable as $$
  select d.id from districts d
  where d.congress_number = congress and st_contains(d.geom, st_setsrid(st_point(x, y), 3857)) order by d.id $$;
create function overlapping(congress bigint, x1 float8, y1 float8, x2 float8, y2 float8)
returns table (id bigint) language sql stable as $$
  select d.id from districts d
  where d.congress_number = congress and d.geom && st_makeenvelope(x1, y1, x2, y2, 3857) order by d.id $$;

-- The operations from degrees.
create function find_district(lat float8, lon float8, congress bigint) returns table (id bigint)
language sql stable as $$
  select d.id from districts d
  where d.congress_number = congress and st_contains(d.geom, projected(lat, lon)) order by d.id limit 1 $$;
create function districts_in_bbox(min_lat float8, max_lat float8, min_lon float8, max_lon float8, congress bigint)
returns table (id bigint) language sql stable as $$
  select d.id from districts d
  where d.congress_number = congress
    and d.geom && st_transform(st_makeenvelope(min_lon, min_lat, max_lon, max_lat, 4326), 3857) order by d.id $$;
create function nonprofits_nearby(lat float8, lon float8, radius float8)
returns table (ein text, distance float8) language sql stable as $$
  select n.ein, st_distance(st_transform(n.geom_point, 3857), projected(lat, lon)) from nonprofits n
  where n.is_current and n.geom_point is not null
    and st_dwithin(st_transform(n.geom_point, 3857), projected(lat, lon), radius)
  order by 2, 1 $$;

-- Distances in projected metres.
create table places (n int primary key, geom geometry(Point, 3857) not null);
create function places_within(x float8, y float8, radius float8)
returns table (n int, distance float8) language sql stable as $$
  select p.n, st_distance(p.geom, st_setsrid(st_point(x, y), 3857)) from places p
  where st_dwithin(p.geom, st_setsrid(st_point(x, y), 3857), radius) $$;
