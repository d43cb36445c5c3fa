-- A line bills an entry as it is. The lock keeps it so until the line is committed; from then on keep_entry() does.
create or replace function check_billed_entry() returns trigger language plpgsql set search_path from current as $$
begin
  if new.source = 'time' then
    perform from time_entry e join invoice i on i.id = new.invoice_id and i.client_id = e.client_id and i.kind = 'invoice'
      where e.id = new.entry_id and e.version = new.entry_version and e.billable and e.archived_at is null
        and new.unit = 'minute' and new.quantity = e.minutes * 1000000 and new.unit_price * 1000000 = e.rate
      for no key update of e;
  else
    perform from expense e join invoice i on i.id = new.invoice_id and i.client_id = e.client_id and i.kind = 'invoice'
      where e.id = new.entry_id and e.version = new.entry_version and e.billable and e.archived_at is null
        and new.exact = e.amount
      for no key update of e;
  end if;
  if not found then raise exception 'the entry is not what it was' using errcode = 'TG006'; end if;
  return new;
end $$;
