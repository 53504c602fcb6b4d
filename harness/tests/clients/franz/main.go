// franz-go writes a record and reads it, through a listener with SASL, TLS or both: it prints what it
// read, or the error by which it was kept out.
//
// Arguments: bootstrap topic mechanism user secret CA-file; "" for none. The secret is a password, a
// bearer token, or, where "by token" follows the mechanism, the HMAC of a delegation token.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func main() {
	bootstrap, topic, kind, user, secret, authority := os.Args[1], os.Args[2], os.Args[3],
		os.Args[4], os.Args[5], os.Args[6]
	mechanism, byToken := strings.CutSuffix(kind, " by token")
	known := map[string]sasl.Mechanism{
		"PLAIN":         plain.Auth{User: user, Pass: secret}.AsMechanism(),
		"OAUTHBEARER":   oauth.Auth{Token: secret}.AsMechanism(),
		"SCRAM-SHA-256": scram.Auth{User: user, Pass: secret, IsToken: byToken}.AsSha256Mechanism(),
		"SCRAM-SHA-512": scram.Auth{User: user, Pass: secret, IsToken: byToken}.AsSha512Mechanism(),
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(bootstrap), kgo.AllowAutoTopicCreation(), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.RecordDeliveryTimeout(20 * time.Second),
		kgo.MetadataMinAge(100 * time.Millisecond),
	}
	if mechanism != "" {
		options = append(options, kgo.SASL(known[mechanism]))
	}
	if authority != "" {
		trusted := x509.NewCertPool()
		text, err := os.ReadFile(authority)
		end(err)
		trusted.AppendCertsFromPEM(text)
		options = append(options, kgo.DialTLSConfig(&tls.Config{RootCAs: trusted}))
	}
	client, err := kgo.NewClient(options...)
	end(err)
	ctx := context.Background()
	end(client.Ping(ctx))
	end(client.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("one")}).FirstErr())
	fetches := client.PollFetches(ctx)
	end(fetches.Err())
	fetches.EachRecord(func(r *kgo.Record) { fmt.Println("read", string(r.Value)) })
}

func end(err error) {
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}
