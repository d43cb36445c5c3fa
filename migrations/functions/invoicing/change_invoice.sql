-- Changes a draft. Outcomes: changed, and those of lock_invoice_draft().
create or replace function change_invoice(p_id uuid, p_version integer, p_invoice jsonb, p_lines jsonb, p_request text, p_address text)
returns text language plpgsql set search_path from current as $$
declare
  v_outcome text := lock_invoice_draft(p_id, p_version);
  v_new invoice := jsonb_populate_record(null::invoice, p_invoice);
begin
  if v_outcome is not null then return v_outcome; end if;
  delete from invoice_line where invoice_id = p_id;
  perform write_invoice_lines(p_id, p_lines);
  update invoice set note = v_new.note, buyer_name = v_new.buyer_name, buyer_address = v_new.buyer_address,
      buyer_tax_number = v_new.buyer_tax_number, buyer_place = v_new.buyer_place, buyer_reference = v_new.buyer_reference,
      order_number = v_new.order_number, days_to_pay = v_new.days_to_pay, supply_from = v_new.supply_from,
      supply_to = v_new.supply_to, net = v_new.net, tax = v_new.tax, gross = v_new.gross, taxes = v_new.taxes,
      version = version + 1, updated_at = record_time(), updated_by = portal_person()
    where id = p_id;
  perform note_invoice('invoice_changed', p_id, p_request, p_address, jsonb_build_object('version', (p_version + 1)::text));
  return 'changed';
end $$;
