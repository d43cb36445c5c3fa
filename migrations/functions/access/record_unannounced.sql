-- Revisions, and the lines of drafts of invoices, commit with an event of the audit log. A change that does not is recorded, so that
-- `verify` finds it.
create or replace function record_unannounced() returns trigger language plpgsql security definer set search_path from current as $$
declare
  v_row jsonb;
begin
  if own_event() is null then
    v_row := to_jsonb(coalesce(new, old));
    insert into recorded_change (table_name, row_key) values (tg_table_name,
      concat_ws('/', v_row ->> 'noun', v_row ->> 'noun_id', v_row ->> 'version', v_row ->> 'invoice_id', v_row ->> 'position'));
  end if;
  return null;
end $$;
