-- An invoice and its lines, without null fields, so that columns that are added later change nothing.
create or replace function invoice_document(p_invoice invoice) returns jsonb
language sql stable set timezone = 'UTC' set search_path from current as $$
  select jsonb_strip_nulls(jsonb_build_object('invoice', to_jsonb(p_invoice), 'lines',
    (select jsonb_agg(to_jsonb(l) order by l.position) from invoice_line l where l.invoice_id = p_invoice.id)))
$$;
