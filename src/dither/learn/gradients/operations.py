"""The operations that a program may hold (rule R25).

All of them give the same for the same inputs and draws, keep nothing, and have outputs
whose shapes do not depend on values. PyTorch's `vmap` has a rule for each, or calls it
for one row after the other.
"""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["ENTRYWISE", "LISTED", "name_of"]

SAME_PLACE = """
    add sub rsub mul div true_divide floor_divide remainder fmod pow square sqrt rsqrt
    reciprocal neg negative abs absolute sign sgn exp exp2 expm1 log log2 log10 log1p
    logaddexp sin cos tan asin acos atan atan2 arctan arctan2 sinh cosh tanh asinh acosh
    atanh sigmoid logit erf erfc erfinv lgamma digamma relu relu6 leaky_relu elu selu
    celu gelu silu mish hardtanh hardswish hardsigmoid softplus log_sigmoid threshold
    clamp clamp_min clamp_max clip maximum minimum fmax fmin where eq ne lt le gt ge
    less greater less_equal greater_equal not_equal logical_and logical_or logical_not
    logical_xor bitwise_and bitwise_or bitwise_not bitwise_xor __and__ __or__ __xor__
    isnan isinf isfinite nan_to_num floor ceil round trunc frac lerp addcmul addcdiv
    masked_fill heaviside hypot sinc xlogy hardshrink softshrink
"""
REST = """
    linear bilinear matmul mm bmm mv dot addmm addbmm baddbmm addmv einsum tensordot
    outer inner vdot kron matrix_exp mH linalg_vector_norm linalg_norm linalg_matrix_norm norm linalg_cross
    cross cdist pairwise_distance cosine_similarity frobenius_norm dist renorm
    _weight_norm norm_except_dim conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d conv_tbc embedding embedding_bag one_hot layer_norm group_norm
    instance_norm batch_norm rms_norm scaled_dot_product_attention softmax log_softmax
    glu prelu lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
    cross_entropy_loss nll_loss nll_loss_nd mse_loss l1_loss smooth_l1_loss huber_loss
    binary_cross_entropy binary_cross_entropy_with_logits kl_div poisson_nll_loss
    soft_margin_loss margin_ranking_loss hinge_embedding_loss multi_margin_loss
    multilabel_margin_loss triplet_margin_loss cosine_embedding_loss dropout
    alpha_dropout feature_dropout feature_alpha_dropout bernoulli rand rand_like randn
    randn_like randint randint_like randperm normal uniform exponential multinomial
    cauchy log_normal geometric sum mean prod amax amin max min argmax argmin aminmax
    logsumexp cumsum cumprod logcumsumexp cummax cummin std var std_mean var_mean median
    nanmedian quantile nansum nanmean all any count_nonzero topk sort argsort kthvalue
    searchsorted bucketize diff view reshape flatten unflatten ravel squeeze unsqueeze
    permute transpose t numpy_T mT adjoint movedim swapaxes swapdims expand expand_as
    broadcast_to view_as reshape_as repeat repeat_interleave tile select slice narrow
    split split_with_sizes tensor_split chunk unsafe_split unsafe_chunk unbind hsplit
    vsplit dsplit diagonal diag diag_embed tril triu trace roll flip fliplr flipud rot90
    unfold im2col col2im cat concat concatenate stack hstack vstack dstack pad
    constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d
    replication_pad2d replication_pad3d _pad_circular pixel_shuffle pixel_unshuffle
    channel_shuffle gather scatter scatter_add scatter_reduce index index_select take
    take_along_dim index_put index_add index_copy index_fill slice_scatter
    diagonal_scatter fill zero copy avg_pool1d avg_pool2d avg_pool3d max_pool1d
    max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices
    max_pool3d_with_indices adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
    adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d max_unpool2d
    upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d
    upsample_bilinear2d upsample_bicubic2d upsample_trilinear3d
    _upsample_nearest_exact1d _upsample_nearest_exact2d affine_grid_generator grid_sampler arange
    zeros ones full empty zeros_like ones_like full_like empty_like new_zeros new_ones
    new_full new_empty eye linspace logspace scalar_tensor tril_indices triu_indices
    clone contiguous detach alias lift lift_fresh_copy to type_as resolve_conj
    resolve_neg view_as_real view_as_complex real imag complex polar angle _conj stft
    fft_fft fft_ifft fft_rfft fft_irfft fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_fftn
    fft_ifftn fft_rfftn fft_irfftn fft_fftshift fft_ifftshift meshgrid cartesian_prod
    block_diag atleast_1d atleast_2d atleast_3d broadcast_tensors
"""
ENTRYWISE = frozenset(SAME_PLACE.split())
"""Operations on numbers in the same place."""
LISTED = ENTRYWISE | frozenset(REST.split())
"""The operations that are allowed in a trace, by their names without a final _."""


def name_of(target: Any) -> str:
    """The name of an operation of PyTorch's own, "" for any other: `add` for `aten::add_`
    too.
    """
    if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
        return ""
    name = target._schema.name.partition("::")[2]
    writes = name.endswith("_") and not name.endswith("__")
    return name[:-1] if writes else name
