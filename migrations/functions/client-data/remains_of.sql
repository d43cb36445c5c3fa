-- What is left of an erased revision, for `remains`.
create or replace function remains_of(p_revision revision) returns bytea language sql stable set timezone = 'UTC'
set search_path from current as $$
  select sha256(convert_to(jsonb_build_array(p_revision.number, p_revision.noun, p_revision.noun_id, p_revision.version,
    p_revision.client_id, p_revision.at, p_revision.person_id, p_revision.archived,
    encode(p_revision.erased, 'hex'))::text, 'UTF8'))
$$;
