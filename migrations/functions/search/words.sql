-- Normalises text for search and sorting: words in lower case, without accents, separated by single spaces.
create or replace function words(p_text text) returns text language sql immutable parallel safe
  return trim(regexp_replace(regexp_replace(lower(normalize(p_text, nfkd)), '[\u0300-\u036f]', '', 'g'), '[^[:alnum:]]+', ' ', 'g'));
