package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/sinter-ml/sinter/examples/embed/minilm"
)

// The most a request may ask for.
const (
	maxTexts = 64
	maxBytes = 1 << 20
)

// Request is the body of POST /embed.
type Request struct {
	Texts []string `json:"texts"`
}

// Response is the answer: one embedding for each text.
type Response struct {
	Embeddings [][]float32 `json:"embeddings"`
}

// Failure is the answer to a request that was refused or failed.
type Failure struct {
	Error string `json:"error"`
}

type handler struct {
	enc   *minilm.Encoder
	slots chan struct{} // one for each request being computed
}

// newHandler answers POST /embed and GET /healthz. At most atOnce requests are
// computed at the same time, so that memory is bounded.
func newHandler(enc *minilm.Encoder, atOnce int) http.Handler {
	h := &handler{enc: enc, slots: make(chan struct{}, max(atOnce, 1))}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /embed", h.embed)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

func (h *handler) embed(w http.ResponseWriter, r *http.Request) {
	var req Request
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBytes))
	body.DisallowUnknownFields()
	if err := body.Decode(&req); err != nil {
		status := http.StatusBadRequest
		var big *http.MaxBytesError
		if errors.As(err, &big) {
			status = http.StatusRequestEntityTooLarge
		}
		answer(w, status, Failure{err.Error()})
		return
	}
	if n := len(req.Texts); n == 0 || n > maxTexts {
		answer(w, http.StatusBadRequest, Failure{fmt.Sprintf("%d texts; a request has 1 to %d", n, maxTexts)})
		return
	}
	ctx := r.Context()
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return // the client is gone
	}
	embeddings, err := h.enc.Embed(ctx, req.Texts)
	if err != nil {
		answer(w, http.StatusInternalServerError, Failure{err.Error()})
		return
	}
	answer(w, http.StatusOK, Response{embeddings})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone is no failure
}
