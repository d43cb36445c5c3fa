-- Replaces the lines of a draft.
create or replace function write_invoice_lines(p_invoice uuid, p_lines jsonb) returns void
language sql set search_path from current as $$
  insert into invoice_line (invoice_id, position, source, text, quantity, unit, unit_price, exact, net, tax_category, tax_rate,
      tax_reason, model, direction, credits_position, entry_id, entry_version, month, markup)
    select p_invoice, l.position, l.source, l.text, l.quantity, l.unit, l.unit_price, l.exact, l.net, l.tax_category,
      l.tax_rate, l.tax_reason, l.model, l.direction, l.credits_position, l.entry_id, l.entry_version, l.month, l.markup
    from jsonb_populate_recordset(null::invoice_line, p_lines) l
$$;
