-- Whether an invoice bills its lines: it is neither void nor credited in full.
create or replace function invoice_bills(p_invoice invoice) returns boolean language sql stable set search_path from current as $$
  select p_invoice.kind = 'invoice' and p_invoice.state <> 'void' and not (p_invoice.gross = invoice_credited(p_invoice.id)
    and exists (select from invoice c where c.credits_id = p_invoice.id and c.state = 'issued'))
$$;
