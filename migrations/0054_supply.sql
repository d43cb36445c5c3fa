-- The days of supply, which the law requires on every invoice and credit note. Before the issue, only what a person states;
-- then they are frozen. Null in invoices that were issued before.
alter table invoice
  add column supply_from date,
  add column supply_to   date,
  add constraint invoice_supply_is_valid check ((supply_from is null) = (supply_to is null) and supply_from <= supply_to) not valid;
alter table invoice validate constraint invoice_supply_is_valid;

do $$
begin
  execute format('grant insert (supply_from, supply_to), update (supply_from, supply_to) on invoice to %s', portal_role('partner'));
end $$;
