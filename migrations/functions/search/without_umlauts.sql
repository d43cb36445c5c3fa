-- A text whose umlauts are written with an e.
create or replace function without_umlauts(p_text text) returns text language sql immutable parallel safe
  return regexp_replace(regexp_replace(regexp_replace(normalize(p_text, nfkd), '([aouAOU])\u0308', '\1e', 'g'),
    '([aA])\u030a', '\1a', 'g'), '[\u0300-\u036f]', '', 'g');
