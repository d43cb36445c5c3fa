-- The language of a client's invoices, of those that they have words in. Null: that of the firm. A new draft takes a copy, and an issued
-- invoice has its locale in the seller, as it always had.
alter table client add column billing_language text check (billing_language in ('de', 'en', 'fr'));
alter table invoice add column language text check (language in ('de', 'en', 'fr'));

do $$
begin
  execute format('grant insert (billing_language), update (billing_language) on client to %s, %s', portal_role('consultant'),
    portal_role('partner'));
  execute format('grant insert (language) on invoice to %s', portal_role('partner'));
end $$;
