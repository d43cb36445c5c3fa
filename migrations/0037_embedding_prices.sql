-- Models of embeddings have no output, so their price has none either.

alter table price
  drop constraint output_costs_more,
  add constraint output_costs_more check (output > input or output = 0);
