-- As `rough_patterns()`, for `joined_pattern()`. Empty without one.
create or replace function rough_joined_pattern(p_text text) returns text language sql immutable parallel safe
  return (select case when sought ~ ' ' and is_long(replace(sought, ' ', '')) then '%' || rough_pattern(replace(sought, ' ', '')) else '' end
    from words(without_umlauts(p_text)) sought);
