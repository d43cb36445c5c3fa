-- An invoice and its lines, without null fields, so that columns that are added later change nothing. In PL/pgSQL, which keeps the plan:
-- each draft of a monthly run is recorded by a statement of its own.
create or replace function invoice_document(p_invoice invoice) returns jsonb
language plpgsql stable set timezone = 'UTC' set search_path from current as $$
begin
  return jsonb_strip_nulls(jsonb_build_object('invoice', to_jsonb(p_invoice), 'lines',
    (select jsonb_agg(to_jsonb(l) order by l.position) from invoice_line l where l.invoice_id = p_invoice.id)));
end $$;
