-- The issued invoice or credit note of the client with this number, the latest if only its case differs from that of another, for those
-- who may read invoices; null for others.
create or replace function disputed_invoice(p_client uuid, p_number text) returns uuid language plpgsql stable set search_path from current as $$
begin
  if not has_table_privilege('invoice', 'select') then return null; end if;
  return (select i.id from invoice i where i.client_id = p_client and names_invoice(p_number, i.number) order by i.id desc limit 1);
end $$;
