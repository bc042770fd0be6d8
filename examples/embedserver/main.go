// Embedserver serves sentence embeddings over HTTP:
//
//	go run ./examples/embedserver -addr 127.0.0.1:8080
//	curl -s localhost:8080/embed -d '{"texts":["Hello","Good day"]}'
//
// All requests share one model; each runs on a stream of its own, in a scope
// that gives its memory back. It needs the model that scripts/models.sh
// fetches.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/embed/minilm"
	"github.com/sinter-ml/sinter/examples/internal/models"
)

func main() {
	o := options{}
	flag.StringVar(&o.addr, "addr", "127.0.0.1:8080", "address to listen on")
	flag.StringVar(&o.model, "model", "", "folder of the model; by default the one scripts/models.sh fetches")
	flag.IntVar(&o.workers, "workers", 0, "threads for kernels; 0: one a processor")
	flag.IntVar(&o.atOnce, "at-once", 4, "requests that are computed at the same time; others wait")
	flag.DurationVar(&o.grace, "grace", 10*time.Second, "how long open requests may go on after an interrupt")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, nil); err != nil {
		fmt.Fprintln(os.Stderr, "embedserver:", err)
		os.Exit(1)
	}
}

type options struct {
	addr, model     string
	workers, atOnce int
	grace           time.Duration
}

// run serves until ctx ends, then lets open requests finish. It tells ready, if
// not nil, the address it listens on.
func run(ctx context.Context, o options, ready chan<- net.Addr) (err error) {
	if o.model == "" {
		if o.model, err = models.Find(); err != nil {
			return err
		}
	}
	var opts []sinter.Option
	if o.workers > 0 {
		opts = append(opts, sinter.WithWorkers(o.workers))
	}
	dev, err := sinter.Open("auto", opts...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	enc, err := minilm.Open(ctx, dev, o.model)
	if err != nil {
		return err
	}

	listener, err := net.Listen("tcp", o.addr)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: newHandler(enc, o.atOnce), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	slog.Info("listening", "addr", listener.Addr(), "device", dev.Name())
	if ready != nil {
		ready <- listener.Addr()
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	// The device closes only after the last request.
	grace, cancel := context.WithTimeout(context.Background(), o.grace)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		return errors.Join(err, srv.Close())
	}
	return nil
}
