-- Writes an audit event about an invoice. It names no client, because a client's consultant sees the events that do.
create or replace function note_invoice(p_action text, p_invoice uuid, p_request text, p_address text, p_details jsonb) returns void
language sql set search_path from current as $$
  insert into audit (action, outcome, noun, noun_id, request_id, address, details)
  values (p_action, 'allowed', 'invoice', p_invoice, p_request, p_address, p_details)
$$;
