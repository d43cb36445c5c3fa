-- Writes a draft, with the days of supply and what the billing details of its client add to an invoice. Outcomes: created; exists, if a
-- repeated request created it before; no_payer; and archived.
create or replace function create_invoice(p_id uuid, p_invoice jsonb, p_lines jsonb, p_request text, p_address text) returns text
language plpgsql set search_path from current as $$
declare
  v_new invoice := jsonb_populate_record(null::invoice, p_invoice);
  v_status text;
begin
  if exists (select from invoice where id = p_id) then return 'exists'; end if;
  if v_new.kind = 'credit_note' then
    -- Its payer is that of its invoice, also if the client was deleted since.
    v_status := 'active';
  elsif v_new.client_id is not null then
    select status into v_status from client where id = v_new.client_id and deleted_at is null;
    if v_status = 'archived' then return 'archived'; end if;
  else
    select 'active' into v_status from account where id = v_new.account_id;
  end if;
  if v_status is null then return 'no_payer'; end if;
  insert into invoice (id, kind, account_id, client_id, month, credits_id, currency, decimals, note, buyer_name, buyer_address,
      buyer_tax_number, buyer_place, buyer_reference, order_number, days_to_pay, language, supply_from, supply_to, net, tax, gross, taxes)
    values (p_id, v_new.kind, v_new.account_id, v_new.client_id, v_new.month, v_new.credits_id, v_new.currency, v_new.decimals,
      v_new.note, v_new.buyer_name, v_new.buyer_address, v_new.buyer_tax_number, v_new.buyer_place, v_new.buyer_reference,
      v_new.order_number, v_new.days_to_pay, v_new.language, v_new.supply_from, v_new.supply_to, v_new.net, v_new.tax, v_new.gross, v_new.taxes)
    on conflict (id) do nothing;
  if not found then return 'exists'; end if;
  perform write_invoice_lines(p_id, p_lines);
  perform note_invoice('invoice_created', p_id, p_request, p_address, jsonb_build_object('kind', v_new.kind));
  return 'created';
end $$;
