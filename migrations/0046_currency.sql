-- The currency of the amounts in this database. At most one row; the first start writes it.
create table books_currency (
  only_row boolean primary key default true check (only_row),
  currency text not null check (currency ~ '^[A-Z]{3}$')
);

-- Only invoices say which currency it was so far. A credit note has that of the invoice that it corrects, which may be an earlier one.
insert into books_currency (currency)
  select currency from invoice where kind = 'invoice' and state <> 'void' order by created_at desc, id desc limit 1;
