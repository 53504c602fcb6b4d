// kafkajs on a broker that this program starts: touchstone must be on the PATH.
const { spawn } = require("child_process");
const { once } = require("events");
const readline = require("readline");
const { Kafka } = require("kafkajs");

async function main() {
  const stdio = ["ignore", "pipe", "inherit"];
  const broker = spawn("touchstone", ["broker", "--profile", "test"], { stdio });
  const [ready] = await once(readline.createInterface(broker.stdout), "line");
  const kafka = new Kafka({ brokers: ready.slice("ready ".length).split(","), logLevel: 1 });

  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: "orders" }] });
  const producer = kafka.producer({ createPartitioner: () => () => 0 });
  await producer.connect();
  await producer.send({ topic: "orders", messages: [{ key: "customer 7", value: "order 1" }] });

  const consumer = kafka.consumer({ groupId: "billing" });
  await consumer.connect();
  await consumer.subscribe({ topic: "orders", fromBeginning: true });
  await new Promise((done) =>
    consumer.run({
      eachMessage: async ({ message }) => done(console.log(`${message.key}: ${message.value}`)),
    }));
  await Promise.all([consumer, producer, admin].map((client) => client.disconnect()));
  broker.kill();
}

main().catch((fault) => { console.error(fault); process.exit(1); });
