-- Entries and documents are listed page by page, but exported and billed together, so their number is limited too. Entries that an invoice
-- bills do not count: they cannot be archived.
create or replace function refuse_excess_entry() returns trigger
language plpgsql security definer set search_path from current as $$
declare
  v_most constant integer := 10000;
  v_proof constant text := coalesce(current_setting('tollgate.proof', true), '');
  v_entries bigint;
begin
  -- Only with `tollgate.proof` does the owner see records.
  perform set_config('tollgate.proof', 'on', true);
  -- Counting all of them is fast, so billed ones are left out only if that matters.
  execute format('select count(*) from (select from %I where client_id = $1 and archived_at is null limit $2) e', tg_table_name)
    into v_entries using new.client_id, v_most + 1;
  if v_entries > v_most then
    execute format('select count(*) from %I e where client_id = $1 and archived_at is null
      and not exists (select from billed_entry b where b.entry_id = e.id)', tg_table_name) into v_entries using new.client_id;
  end if;
  perform set_config('tollgate.proof', v_proof, true);
  if v_entries > v_most then
    raise exception 'the client has all that a record may hold' using errcode = 'TG002';
  end if;
  return null;
end $$;
revoke execute on function refuse_excess_entry() from public;
