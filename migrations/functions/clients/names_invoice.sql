-- Whether what a dispute says of its invoice is this number.
create or replace function names_invoice(p_text text, p_number text) returns boolean language sql immutable parallel safe
  return lower(btrim(p_text)) = lower(p_number);
