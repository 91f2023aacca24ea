import { Migration, Migrator } from '@mikro-orm/migrations';
import { defineConfig, defineEntity, p } from '@mikro-orm/postgresql';

export const Order = defineEntity({
  name: 'Order',
  schema: 'shop',
  tableName: 'orders',
  properties: { orderId: p.text().primary(), article: p.text() },
});

/** Stands for a session of Turnlock, so that a foreign key can point at one. Nothing is read or written by it. */
export const AgentSession = defineEntity({
  name: 'AgentSession',
  schema: 'turnlock',
  tableName: 'agent_sessions',
  properties: { tenantId: p.string().length(64).primary(), sessionId: p.uuid().primary() },
});

export const Complaint = defineEntity({
  name: 'Complaint',
  schema: 'shop',
  tableName: 'complaints',
  properties: {
    complaintId: p.uuid().primary(),
    order: () => p.manyToOne(Order).joinColumn('order_id').foreignKeyName('complaint_order').updateRule('no action'),
    session: () =>
      p
        .manyToOne(AgentSession)
        .joinColumns('tenant_id', 'session_id')
        .foreignKeyName('complaint_session')
        .updateRule('no action'),
  },
});

/** The service before it had an agent. */
class Orders extends Migration {
  override up(): void {
    this.addSql('create table shop.orders (order_id text primary key, article text not null)');
    this.addSql(`insert into shop.orders values ('42', 'lamp')`);
  }
}

/** Turnlock's migrations come first: one of its tables is pointed at. The key is tenant and session. */
class Complaints extends Migration {
  override up(): void {
    this.addSql(`create table shop.complaints (
      complaint_id uuid primary key,
      order_id text not null constraint complaint_order references shop.orders,
      tenant_id varchar(64) not null,
      session_id uuid not null,
      constraint complaint_session foreign key (tenant_id, session_id)
        references turnlock.agent_sessions (tenant_id, session_id))`);
  }
}

/** The service's own MikroORM: its schema is `shop`, and so is the table of its migrations. */
export function shopConfig(clientUrl: string) {
  return defineConfig({
    clientUrl,
    entities: [Order, Complaint, AgentSession],
    extensions: [Migrator],
    migrations: {
      tableName: 'shop.migrations',
      migrationsList: [
        { name: 'orders', class: Orders },
        { name: 'complaints', class: Complaints },
      ],
      snapshot: false,
      silent: true,
    },
    schemaGenerator: {
      ignoreSchema: ['turnlock'], // else it drops what is there
      skipTables: ['turnlock.agent_sessions'], // else it makes the table that the entity stands for
    },
  });
}
