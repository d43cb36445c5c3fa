-- A month stays billed until its invoice is void or credited in full.
create or replace function keep_billed_month() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'DELETE' and exists (select from invoice i where i.id = old.invoice_id
    and (i.state = 'void' or (exists (select from invoice c where c.credits_id = i.id and c.state = 'issued')
      and i.gross = invoice_credited(i.id)))) then return old; end if;
  raise exception 'a month is billed until its invoice is void or credited in full' using errcode = 'insufficient_privilege';
end $$;
