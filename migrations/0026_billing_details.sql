-- Whom the invoices of an account are addressed to. A draft takes what is here when it is issued, unless it states a buyer of its own.
alter table account
  add column billing_name       text check (length(billing_name) between 1 and 200),
  add column billing_address    text check (length(billing_address) between 1 and 500),
  add column billing_tax_number text check (length(billing_tax_number) between 1 and 50),
  add column billing_email      text check (length(billing_email) between 3 and 254);

do $$
begin
  execute format('grant select (billing_name, billing_address, billing_tax_number) on account to %s', portal_role('partner'));
end $$;
