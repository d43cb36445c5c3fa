-- The words of a text, and once more without spaces. Letters such as ł and ø stay: variants() has what a search takes for them.
create or replace function spelling(p_text text) returns text language sql immutable parallel safe
  return words(p_text) || ' ' || replace(words(p_text), ' ', '');
