-- Keeps what an item was before each change, without the spelling, which repeats other columns. Runs as the owner: no portal role may write
-- revisions.
create or replace function keep_revision() returns trigger language plpgsql security definer
set search_path from current set timezone = 'UTC' as $$
declare
  v_all jsonb := to_jsonb(new);
  v_data jsonb := v_all - array['id', 'client_id', 'version', 'created_at', 'created_by', 'updated_at', 'updated_by',
    'changed_at', 'archived_at', 'deleted_at', 'search', 'sort_key', 'reference_key', 'spelling'];
  v_money text;
begin
  -- As text, because JSON numbers can lose digits.
  foreach v_money in array array['amount', 'cost', 'rate'] loop
    if v_data ? v_money then v_data := v_data || jsonb_build_object(v_money, v_all ->> v_money); end if;
  end loop;
  insert into revision (noun, noun_id, version, client_id, at, person_id, archived, data)
  values (tg_table_name, new.id, new.version, coalesce((v_all ->> 'client_id')::uuid, new.id), new.updated_at,
    portal_person(), (v_all ->> 'archived_at') is not null or (v_all ->> 'deleted_at') is not null, v_data);
  return null;
end $$;
