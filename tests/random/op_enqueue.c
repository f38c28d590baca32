/* SPDX-License-Identifier: MIT */
/* Work with a body: cushim_stream_enqueue() and cushim_stream_run(). */
#include "operations.h"

void body_open(struct body *body, struct stream_slot *slot, struct expectation *expectation, bool covers)
{
    *body = (struct body){
        .use = body_begin(slot),
        .observing = objects->observing,
        .covers = covers,
        .seed = choose_seed(),
        .result = one_in(8) ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS,
    };
    objects->observing = 0;
    expectation->body = body;
}

void body_close(struct body *body)
{
    objects->observing = body->observing;
    body_end(&body->use);
}

/* Ends the stream that the body runs for. */
static void end_own_stream(const struct body_use *use)
{
    if (!body_has_stream(use) || !stream_may_end(use->slot))
        return;
    objects->invalidated += !is_idle(use->slot->stream);
    cushim_stream_destroy(&use->slot->stream);
    stream_emptied(use->slot);
}

CUresult body_of_work(struct cushim_stream *stream, void *user)
{
    struct expectation *expectation = user;
    struct body *body = expectation->body;
    CUcontext before = objects->current;
    body->ran = true;
    for (unsigned i = choose(3); i != 0 && body->covers; i--)
        expectation_cover(expectation, stream);
    bool ends = one_in(8);
    operations_nest(body->seed, 3);
    if (objects->current != before && driver()->CtxSetCurrent_v1(before) == CUDA_SUCCESS)
        objects->current = before;
    if (body->covers && body_has_stream(&body->use))
        expectation_cover(expectation, stream);
    if (ends)
        end_own_stream(&body->use);
    body->was_idle = body->use.of != NULL && body_has_stream(&body->use) && is_idle(stream);
    return body->result;
}

static void check_result(const struct body *body, CUresult result)
{
    if (!body->ran || faults || atomic_load(&broken))
        return;
    if (body->was_idle && settings.threads == 1)
        check(result == body->result, "the result is not that of the body");
    else if (body->result != CUDA_SUCCESS)
        check(result != CUDA_SUCCESS, "the error of the body was not returned");
}

/* Keeps a completion that was made, or detaches it if there is no room. */
static void keep(struct cushim_completion *made, struct expectation *work)
{
    struct completion_slot *slot = free_completion();
    if (slot != NULL)
        *slot = (struct completion_slot){.completion = made, .work = work};
    else
        cushim_completion_detach(&made);
}

/* Nobody knows when the work is done, so it is never released. */
static void lose(struct expectation *expectation)
{
    check(atomic_load(&expectation->releases) == 0, "work that was lost was released");
    expectation->has_release = false;
}

void op_stream_enqueue(void)
{
    struct stream_slot *slot = pick_stream();
    bool wanted = !one_in(4);
    struct cushim_completion *made = NULL;
    struct expectation *expectation = expectation_new(one_in(3) ? DO_OPERATIONS_IN_RELEASE : DO_NOTHING, 1);
    struct body body;
    if (slot == NULL || expectation == NULL)
        return;
    body_open(&body, slot, expectation, true);
    release_fn release = choose_release(expectation);
    note("stream %d of driver stream %d%s%s", (int)(slot - objects->streams), slot->of, wanted ? "" : ", no completion",
         body.result != CUDA_SUCCESS ? ", fails" : "");
    CUresult result =
        noted_outer(cushim_stream_enqueue(slot->stream, body_of_work, expectation, release, wanted ? &made : NULL));
    body_close(&body);
    check(wanted && result == CUDA_SUCCESS ? made != NULL : made == NULL,
          "a result was not written, or in spite of a failure");
    if (!body.ran && release != NULL)
        check(atomic_load(&expectation->releases) == 1, "a refusal did not release");
    check_result(&body, result);
    if (body.ran && result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
        lose(expectation);
    if (made != NULL)
        keep(made, expectation);
}

void op_stream_run(void)
{
    struct stream_slot *slot = pick_stream();
    struct expectation *expectation = expectation_new(DO_NOTHING, 0);
    struct body body;
    if (slot == NULL || expectation == NULL)
        return;
    bool was_idle = is_idle(slot->stream);
    body_open(&body, slot, expectation, true);
    note("stream %d of driver stream %d%s", (int)(slot - objects->streams), slot->of,
         body.result != CUDA_SUCCESS ? ", fails" : "");
    objects->invalidated += !was_idle;
    CUresult result = noted_outer(cushim_stream_run(slot->stream, body_of_work, expectation));
    body_close(&body);
    if (!faults && (result == CUDA_SUCCESS || result == body.result))
        expectation_check_covered(expectation, "was waited for, and its work is not done");
    check_result(&body, result);
}
