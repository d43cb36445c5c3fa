-- No payment is larger than what is open, and no money is returned that was not paid too much. TG005 names the column at fault.
create or replace function keep_invoice_payment() returns trigger language plpgsql set search_path from current as $$
declare
  v_invoice invoice;
  v_open amount;
  v_reversed invoice_payment;
begin
  select * into v_invoice from invoice where id = new.invoice_id for no key update;
  if v_invoice.state is distinct from 'issued' or v_invoice.kind <> 'invoice' then
    raise exception 'only issued invoices are paid' using errcode = 'TG005', column = 'invoice_id';
  end if;
  if new.amount % power(10::numeric, 12 - v_invoice.decimals)::numeric(38, 0) <> 0 then
    raise exception 'a payment is in the minor unit of the currency' using errcode = 'TG005', column = 'amount';
  end if;
  if new.reverses_id is not null then
    select * into v_reversed from invoice_payment where id = new.reverses_id and invoice_id = new.invoice_id;
    if not found or v_reversed.reverses_id is not null or new.amount <> -v_reversed.amount then
      raise exception 'no such payment is taken back' using errcode = 'TG005', column = 'reverses_id';
    end if;
    return new;
  end if;
  v_open := v_invoice.gross - invoice_credited(new.invoice_id) - invoice_paid(new.invoice_id);
  if new.amount > greatest(v_open, 0) or new.amount < least(v_open, 0) then
    raise exception 'more than what is open' using errcode = 'TG005', column = 'amount';
  end if;
  return new;
end $$;
