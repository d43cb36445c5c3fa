-- Whether the words of a query have one spelling only, also without the spaces between them, so that `rough_patterns()` are exact.
create or replace function is_plain(p_text text) returns boolean language sql immutable parallel safe
  return words(without_umlauts(p_text)) !~ 's ?s|t ?h|[aeou] ?[aeou]|[lodiłøđðıßþæœ]';
