-- An invoice has a line for each kind of tokens that was used.
alter table invoice_line
  drop constraint invoice_line_direction_check,
  add constraint invoice_line_direction_check check (direction in ('input', 'output', 'cached_input', 'cache_write'));
