-- What an invoice bills stays billed until the invoice is void or credited in full.
create or replace function keep_billed() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'DELETE' and not exists (
    select from invoice i join invoice_line l on l.invoice_id = i.id
    where i.id = old.invoice_id and invoice_bills(i)
      and case tg_table_name when 'billed_entry' then l.entry_id = (to_jsonb(old) ->> 'entry_id')::uuid
        else l.month = (to_jsonb(old) ->> 'month')::date end) then
    return old;
  end if;
  raise exception 'it is billed until its invoice is void or credited in full' using errcode = 'insufficient_privilege';
end $$;
