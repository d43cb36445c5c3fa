-- Whether an invoice is overdue on a day.
create or replace function is_overdue(p_invoice invoice, p_today date) returns boolean language sql stable set search_path from current as $$
  select p_invoice.kind = 'invoice' and p_invoice.state = 'issued' and p_invoice.due_on < p_today
    and p_invoice.gross > invoice_paid(p_invoice.id) + invoice_credited(p_invoice.id)
$$;
