-- The words of a text, and once more without spaces.
create or replace function spelling(p_text text) returns text language sql immutable parallel safe
  return words(p_text) || ' ' || replace(words(p_text), ' ', '');
