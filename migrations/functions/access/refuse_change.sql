-- For tables whose rows never change and are never removed.
create or replace function refuse_change() returns trigger language plpgsql set search_path from current as $$
begin
  raise exception 'rows of % are neither changed nor taken away', tg_table_name using errcode = 'insufficient_privilege';
end $$;
