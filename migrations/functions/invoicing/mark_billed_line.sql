-- Runs as the owner: no portal role may write these rows.
create or replace function mark_billed_line() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if tg_op = 'DELETE' then
    delete from billed_entry where entry_id = old.entry_id and invoice_id = old.invoice_id;
    delete from billed_letters b using invoice i
      where i.id = old.invoice_id and b.client_id = i.client_id and b.month = old.month and b.invoice_id = i.id;
  elsif new.entry_id is not null then
    insert into billed_entry (entry_id, invoice_id) values (new.entry_id, new.invoice_id);
  else
    insert into billed_letters (client_id, month, invoice_id)
      select client_id, new.month, id from invoice where id = new.invoice_id;
  end if;
  return null;
end $$;
