-- Marks the month of an account whose usage an invoice bills. Runs as the owner: no portal role may write these rows.
create or replace function mark_billed_month() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if tg_op = 'INSERT' then
    insert into billed_month (account_id, month, invoice_id) values (new.account_id, new.month, new.id);
  else
    delete from billed_month where invoice_id = new.id;
  end if;
  return null;
end $$;
