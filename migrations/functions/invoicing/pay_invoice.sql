-- Records a payment. Outcomes: paid, and exists, if a repeated request recorded it before.
create or replace function pay_invoice(p_id uuid, p_payment uuid, p_date date, p_amount amount, p_method text, p_reference text,
  p_reverses uuid, p_request text, p_address text) returns text
language plpgsql set search_path from current as $$
begin
  -- Of two requests with one key, the second waits and finds the payment of the first.
  perform from invoice where id = p_id for no key update;
  if exists (select from invoice_payment where id = p_payment) then return 'exists'; end if;
  insert into invoice_payment (id, invoice_id, date, amount, method, reference, reverses_id)
    values (p_payment, p_id, p_date, p_amount, p_method, p_reference, p_reverses);
  perform note_invoice('invoice_paid', p_id, p_request, p_address, jsonb_build_object('payment', p_payment::text));
  return 'paid';
end $$;
