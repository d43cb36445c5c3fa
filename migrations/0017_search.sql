-- Search finds a client by the middle of a word, by a reference without its punctuation (PA1031 for PA-1031), and, if
-- nothing else matches, by a similar spelling.
do $$
begin
  create extension if not exists pg_trgm;
exception
  when insufficient_privilege or feature_not_supported or undefined_file then
    raise exception 'search needs the extension pg_trgm, which is part of PostgreSQL''s contrib modules. Install them if they are missing, have an administrator run "create extension pg_trgm" in this database, then start again (%)', sqlerrm
      using errcode = sqlstate;
end $$;

-- The words of a text, and once more without spaces.
create function spelling(p_text text) returns text language sql immutable parallel safe
  return words(p_text) || ' ' || replace(words(p_text), ' ', '');

alter table client add column spelling text not null
  generated always as (spelling(name || ' ' || coalesce(reference, '') || ' ' || coalesce(email, ''))) stored;
create index client_spelling on client using gin (spelling gin_trgm_ops) where deleted_at is null;

-- As before, but without the spelling, which repeats other columns.
create or replace function keep_revision() returns trigger language plpgsql security definer
set search_path from current set timezone = 'UTC' as $$
declare
  v_all jsonb := to_jsonb(new);
  v_data jsonb := v_all - array['id', 'client_id', 'version', 'created_at', 'created_by', 'updated_at', 'updated_by',
    'changed_at', 'archived_at', 'deleted_at', 'search', 'sort_key', 'reference_key', 'spelling'];
  v_money text;
begin
  -- As text, because JSON numbers can lose digits.
  foreach v_money in array array['amount', 'cost'] loop
    if v_data ? v_money then v_data := v_data || jsonb_build_object(v_money, v_all ->> v_money); end if;
  end loop;
  insert into revision (noun, noun_id, version, client_id, at, person_id, archived, data)
  values (tg_table_name, new.id, new.version, coalesce((v_all ->> 'client_id')::uuid, new.id), new.updated_at,
    portal_person(), (v_all ->> 'archived_at') is not null or (v_all ->> 'deleted_at') is not null, v_data);
  return null;
end $$;
